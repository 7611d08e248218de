"""A container with several ports: each is mapped to a free one of the loopback, and the adapter is told by name."""

from __future__ import annotations

import socket

import pytest

from storeproof.launch.container import ContainerHandle
from storeproof.spec import ContainerLaunch
from tests.end_to_end.running import wait_for
from tests.launch.conftest import skip_without
from tests.launch.small import connected, request

pytestmark = pytest.mark.docker

IMAGE = "storeproof/memcached"
LAUNCH = ContainerLaunch(
    image=IMAGE,
    port=11211,
    ports={"other": 11212},
    data="/data",
    command=("memcached", "-u", "nobody", "-l", "0.0.0.0:11211,0.0.0.0:11212"),
)


@pytest.fixture(scope="module", autouse=True)
def _engine() -> None:
    skip_without(IMAGE)


def test_each_is_mapped_to_the_loopback_and_free_afterwards() -> None:
    """Each named port is mapped to a free loopback port, which `close` frees."""
    handle = ContainerHandle(request(LAUNCH, store="named", probe=connected))
    second = ContainerHandle(request(LAUNCH, store="second", probe=connected))
    try:
        handle.start()
        second.start()
        seen = [_both(handle), _both(second)]
        assert len({*seen[0], *seen[1]}) == 4, "two of a kind run side by side"
        for ports in seen:
            _all_answer(ports)
            assert not any(_reached_from_elsewhere(port) for port in ports)
        handle.kill()
        handle.start()
        again = _both(handle)
        _all_answer(again)  # after a kill too, whatever the numbers are then
    finally:
        handle.close()
        second.close()
    for port in (*again, *seen[1]):
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=5)


def test_one_that_keeps_its_number_is_told_by_name_too() -> None:
    """A fixed port is in `Address.ports` by its name."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = int(free.getsockname()[1])
    command = ("memcached", "-u", "nobody", "-l", f"0.0.0.0:11211,0.0.0.0:{number}")
    launch = LAUNCH.model_copy(update={"ports": {"other": number}, "fixed_ports": (number,), "command": command})
    handle = ContainerHandle(request(launch, store="fixed", probe=connected))
    try:
        handle.start()
        assert handle.address.ports == {"other": number}
        _all_answer((number,))
    finally:
        handle.close()


def _both(handle: ContainerHandle) -> tuple[int, int]:
    address = handle.address
    assert address.host == "127.0.0.1"
    assert list(address.ports) == ["other"]
    return address.port, address.ports["other"]


def _all_answer(ports: tuple[int, ...]) -> None:
    """The store was awaited on its first port alone, and the engine's proxy takes connections before the others are open."""
    for port in ports:
        wait_for(lambda port=port: _answer(port) == b"VERSION ")


def _answer(port: int) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as asked:
        try:
            asked.sendall(b"version\r\n")
            return asked.recv(8)
        except ConnectionError:
            return b""


def _reached_from_elsewhere(port: int) -> bool:
    """By an address of this machine that is not the one that we asked for: a port that is open to the network has it too."""
    try:
        socket.create_connection(("127.0.0.2", port), timeout=1).close()
    except OSError:
        return False
    return True
