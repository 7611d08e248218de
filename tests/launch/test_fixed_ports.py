"""A container whose ports keep their numbers, for servers that tell their clients where to go."""

from __future__ import annotations

import socket

import pytest

from storeproof.errors import NotAvailable
from storeproof.launch.container import ContainerHandle
from storeproof.spec import ContainerLaunch
from tests.launch.conftest import skip_without
from tests.launch.small import connected, request

pytestmark = pytest.mark.docker

IMAGE = "storeproof/memcached"


@pytest.fixture(scope="module", autouse=True)
def _engine() -> None:
    skip_without(IMAGE)


def test_they_are_reached_under_their_numbers_and_free_afterwards() -> None:
    """Fixed ports keep their numbers, a second container cannot have them, and `close` frees them."""
    one, other = _free(), _free()
    command = ("memcached", "-u", "nobody", "-l", f"0.0.0.0:{one},0.0.0.0:{other}")
    launch = ContainerLaunch(image=IMAGE, port=one, fixed_ports=(one, other), data="/data", command=command)
    handle = ContainerHandle(request(launch, store="fixed", probe=connected))
    try:
        handle.start()
        assert (handle.address.host, handle.address.port) == ("127.0.0.1", one)
        socket.create_connection(("127.0.0.1", other), timeout=5).close()
        handle.kill()
        handle.start()
        assert handle.address.port == one, "after a kill too"
        second = ContainerHandle(request(launch, store="second", probe=connected))
        try:
            told = rf"second tells its clients its ports, so that it needs {one}, {other} of this machine; port \d+ is already in use by"
            with pytest.raises(NotAvailable, match=told):
                second.start()
        finally:
            second.close()
    finally:
        handle.close()
    with socket.create_server(("127.0.0.1", one)):
        pass


def _free() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
