"""A container of the project's own images: started, killed, paused, stopped, and never left behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests

from storeproof.cleanup.registry import registry
from storeproof.cleanup.sweep import sweep_directories
from storeproof.cleanup.workdir import WorkDir, default_base
from storeproof.contract import Address, Unknown
from storeproof.errors import MachineFailed, NotAvailable, StoreDied
from storeproof.launch import container
from storeproof.launch.container import ContainerHandle
from storeproof.machine import container_engine
from storeproof.machine.owner import this_process
from storeproof.spec import ContainerLaunch
from tests.launch.small import WITHOUT_REAPER, WORK, eventually, request

pytestmark = pytest.mark.docker

IMAGE = "storeproof/redis"
REDIS = ContainerLaunch(image=IMAGE, port=6379, data="/data", command=("redis-server", "--dir", "/data", "${settings}"))
SETTINGS = {"appendonly": "yes", "appendfsync": "always"}


@pytest.fixture(scope="module", autouse=True)
def _engine() -> None:
    reason = container_engine.unavailable()
    if reason is not None:
        pytest.skip(reason)
    if not container_engine.has_image(IMAGE):
        pytest.skip(f"the image {IMAGE} is not here; .ci/setup images")


def command(address: Address, *words: str) -> str:
    """One Redis command; its reply as it came."""
    try:
        with socket.create_connection((address.host, address.port), timeout=2) as connection:
            connection.sendall(f"{' '.join(words)}\r\n".encode())
            return connection.recv(1000).decode()
    except OSError as reason:
        raise Unknown(str(reason)) from None


def pinged(address: Address) -> None:
    if command(address, "PING") != "+PONG\r\n":
        raise Unknown("no pong")


def names(kind: str = "container") -> set[str]:
    """The containers (or volumes) of this process."""
    things = (
        container_engine.client().volumes.list()
        if kind == "volume"
        else container_engine.client().containers.list(all=True, ignore_removed=True)
    )
    return {thing.name for thing in things if thing.name.startswith(f"storeproof-{this_process().pid}-")}


Make = Callable[..., ContainerHandle]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[ContainerHandle] = []

    def handle(launch: ContainerLaunch = REDIS, probe: Callable[[Address], None] = pinged, **options: object) -> ContainerHandle:
        base = options.pop("base", None)
        made.append(ContainerHandle(request(launch, base, store="redis", probe=probe, settings=SETTINGS, **options)))  # type: ignore[arg-type]
        return made[-1]

    yield handle
    for each in made:
        each.close()
    assert names() == names("volume") == set()


@pytest.mark.parametrize("bound", [False, True], ids=["volume", "directory"])
def test_data_survives_kill_and_stop_and_the_port_is_asked_again(make: Make, tmp_path: Path, bound: bool) -> None:
    """Data survives a kill and a stop, and the address is that of the new port."""
    handle = make(base=tmp_path if bound else None)
    assert handle.start() > 0
    assert handle.address.host == "127.0.0.1"
    assert handle.image_digest is not None
    assert handle.image_digest.startswith("sha256:")
    assert command(handle.address, "SET", "a", "1") == "+OK\r\n"
    handle.kill()
    assert not handle.alive()
    handle.start()
    assert command(handle.address, "GET", "a") == "$1\r\n1\r\n"
    handle.stop()
    assert not handle.alive()
    handle.start()
    assert command(handle.address, "GET", "a") == "$1\r\n1\r\n"
    assert "Ready to accept connections" in handle.log_tail()
    assert (handle.data is not None) == bound
    handle.close()
    handle.close()
    assert list(tmp_path.iterdir()) == []


def test_a_directory_with_a_colon(make: Make, tmp_path: Path) -> None:
    """Bind mounts are not written with colons, so a data directory may contain one."""
    (tmp_path / "a:b").mkdir()
    handle = make(base=tmp_path / "a:b")
    handle.start()
    assert command(handle.address, "SET", "a", "1") == "+OK\r\n"
    assert handle.data is not None
    assert any(handle.data.iterdir())
    handle.close()
    assert list((tmp_path / "a:b").iterdir()) == []


def test_data_of_the_images_user_is_removed_by_a_container(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who does not run as root may not remove what the image's user wrote."""
    handle = make(base=tmp_path)
    handle.start()
    left = []
    remove = WorkDir.remove
    monkeypatch.setattr(WorkDir, "remove", lambda made: (left.append(made.data.exists()), remove(made)))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    handle.close()
    assert left == [False]
    assert names("volume") == set()


def test_port_is_open_to_this_machine_only(make: Make) -> None:
    """The published port is bound to 127.0.0.1, not to the network."""
    handle = make()
    handle.start()
    bindings = handle._container.attrs["NetworkSettings"]["Ports"]["6379/tcp"]
    assert [each["HostIp"] for each in bindings] == ["127.0.0.1"]


def test_paused_container_is_silent_and_goes_on(make: Make) -> None:
    """A paused container does not answer, resumes, and can be killed and closed while paused."""
    handle = make()
    handle.start()
    handle.pause()
    with pytest.raises(Unknown):
        command(handle.address, "PING")
    handle.resume()
    pinged(handle.address)
    handle.pause()
    handle.kill()
    handle.start()
    handle.pause()
    handle.close()


def test_environment_and_files_reach_it(make: Make) -> None:
    """Environment and files are filled from the template, and the log shows no password."""
    launch = ContainerLaunch(
        image=IMAGE,
        port=6379,
        data="/data",
        command=("bash", "-c", "echo word $$WORD; cat /etc/small.conf; exec redis-server --protected-mode no"),
        environment={"WORD": "${password}-and-more"},
        files={"/etc/small.conf": "port=${port}\n${settings}\n"},
        setting=("${name}=${value}",),
        password="hunter22",
    )
    handle = make(launch)
    handle.start()
    log = handle.log_tail()
    assert "word ***-and-more" in log
    assert "port=6379\nappendonly=yes\nappendfsync=always" in log


def test_container_that_ends_at_once(make: Make) -> None:
    """A container that exits is a `StoreDied` with its exit status and log."""
    handle = make(REDIS.model_copy(update={"command": ("bash", "-c", "echo no licence; exit 3")}))
    with pytest.raises(StoreDied, match=r"redis ended with exit status 3 before it answered\n(.|\n)*no licence"):
        handle.start()


def test_a_container_that_somebody_kills_is_no_fault_of_the_store(make: Make) -> None:
    """A kill from outside is a failure of the machine; our own kill is not."""
    handle = make()
    handle.start()
    handle.check_alive()
    subprocess.run(["docker", "kill", handle._container.id], check=True, capture_output=True)
    with pytest.raises(MachineFailed, match="redis was killed from outside: SIGKILL, not sent by storeproof"):
        handle.check_alive()
    handle.start()
    handle.check_alive()
    handle.kill()
    with pytest.raises(StoreDied, match="redis ended with exit status 137"):
        handle.check_alive()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may signal another user's process")
def test_a_container_whose_connections_are_closed_has_ended(make: Make) -> None:
    """The engine learns of an end after the clients do."""
    handle = make()
    for _ in range(5):
        handle.start()
        with socket.create_connection((handle.address.host, handle.address.port), timeout=5) as connection:
            os.kill(handle._container.attrs["State"]["Pid"], signal.SIGKILL)
            assert connection.recv(1) == b""
        with pytest.raises(MachineFailed, match="redis was killed from outside"):
            handle.check_alive()


def test_an_engine_that_does_not_notice_an_end_is_no_fault_of_the_store(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container whose main process is gone, and which the engine calls running all the same, is a failure of the machine."""
    handle = make()
    handle.start()
    monkeypatch.setattr("storeproof.launch.container.process_tree.ending", lambda pid: True)
    monkeypatch.setattr("storeproof.launch.container._GONE_SECONDS", 0.1)
    with pytest.raises(MachineFailed, match="which the engine does not know"):
        handle.check_alive()


def test_a_container_that_somebody_removes_is_no_fault_of_the_store(make: Make) -> None:
    """A container that was removed from outside is a failure of the machine."""
    handle = make()
    handle.start()
    subprocess.run(["docker", "rm", "-f", handle._container.id], check=True, capture_output=True)
    with pytest.raises(MachineFailed, match="redis: its container was removed from outside"):
        handle.check_alive()


def test_an_engine_that_falls_silent_is_no_fault_of_the_store(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time-out of the engine is a failure of the machine."""
    handle = make()
    handle.start()

    def silent(*_: object, **__: object) -> None:
        raise requests.exceptions.ReadTimeout

    with monkeypatch.context() as patched:
        patched.setattr(handle._container.client.api, "send", silent)
        with pytest.raises(MachineFailed, match="redis cannot be looked at: the engine does not answer"):
            handle.check_alive()


def test_a_container_that_is_short_of_memory_is_no_fault_of_the_store(make: Make) -> None:
    """Killed by the kernel, and the engine says so."""
    eats = "python3 -c 'x = bytearray(10**9)' || dd if=/dev/zero of=/dev/null bs=900M count=1; exit 137"
    handle = make(REDIS.model_copy(update={"command": ("bash", "-c", eats)}))
    with pytest.MonkeyPatch.context() as patched:
        described = container.describe

        def limited(*arguments: Any) -> object:
            made = described(*arguments)
            made._kwargs["mem_limit"] = "64m"
            made._kwargs["memswap_limit"] = "64m"
            return made

        patched.setattr(container, "describe", limited)
        with pytest.raises(
            NotAvailable, match="the kernel's out-of-memory killer has ended it; give the machine or the container more memory"
        ):
            handle.start()


def test_program_that_the_image_does_not_have(make: Make) -> None:
    """A command that the image lacks is a `StoreDied` that names the command."""
    handle = make(REDIS.model_copy(update={"command": ("no-such-server",)}))
    with pytest.raises(StoreDied, match=r"redis (could not be started|ended with exit status 127)(.|\n)*no-such-server"):
        handle.start()


def test_container_that_never_answers(make: Make) -> None:
    """A container that runs without answering is a time-out of the store."""
    handle = make(REDIS.model_copy(update={"command": ("sleep", "600"), "start_seconds": 1}))
    with pytest.raises(StoreDied, match="redis did not answer within 1 s"):
        handle.start()


def test_missing_image(tmp_path: Path) -> None:
    """An image that cannot be pulled is `NotAvailable`, with a remedy, and leaves no directory."""
    with pytest.raises(NotAvailable) as caught:
        ContainerHandle(request(REDIS, tmp_path, store="redis", probe=pinged, image="storeproof.invalid/redis:7"))
    image = "redis: the image storeproof.invalid/redis:7"
    assert caught.value.reason == f"{image} is not available locally and cannot be pulled: the registry is not reachable"
    assert caught.value.remedy == "docker pull storeproof.invalid/redis:7  # or name a local one: --image redis=LOCAL"
    assert list(tmp_path.iterdir()) == []


def test_other_image(make: Make) -> None:
    """`--image` replaces the image of the store's file."""
    handle = make(REDIS.model_copy(update={"image": "storeproof.invalid/redis:7"}), image=IMAGE)
    handle.start()


def test_keep_leaves_container_and_volume_and_says_how_they_are_removed(make: Make, tmp_path: Path) -> None:
    """`--keep` keeps container and volume, and the command that it prints removes both."""
    handle = make(keep=True)
    handle.start()
    assert handle._dir is not None
    mark = handle._dir.root.name
    handle.close()
    told = registry.kept.pop()
    assert names() == names("volume") == {mark}
    subprocess.run(told.partition("remove them with: ")[2], shell=True, check=True, capture_output=True)
    assert names() == names("volume") == set()


def other_run(*, before: str = "") -> tuple[subprocess.Popen[str], str]:
    """Another run, with a container of its own; and the container's name."""
    code = f"""
        import signal, time
        from storeproof.launch.container import ContainerHandle
        from tests.launch.small import request
        from tests.launch.test_container import REDIS, SETTINGS, pinged
        signal.signal(signal.SIGINT, signal.default_int_handler)
        {before}
        handle = ContainerHandle(request(REDIS, store="redis", probe=pinged, settings=SETTINGS))
        handle.start()
        print(handle._dir.root.name, flush=True)
        {WORK}
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def left(mark: str) -> list[str]:
    """What is left of the other run."""
    client = container_engine.client()
    found = [each.name for each in (*client.containers.list(all=True, ignore_removed=True), *client.volumes.list()) if each.name == mark]
    return found + [str(path) for path in Path(default_base()).glob(mark)]


def end(process: subprocess.Popen[str], number: signal.Signals) -> None:
    process.send_signal(number)
    process.wait(30)
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_signal_in_mid_run_leaves_nothing(number: signal.Signals) -> None:
    """SIGINT and SIGTERM remove container, volume and directory."""
    process, mark = other_run()
    assert len(left(mark)) == 3
    assert not [each for each in container_engine.sweep_containers() if mark in each]
    end(process, number)
    assert left(mark) == []


def test_our_own_sigkill_leaves_nothing() -> None:
    """After SIGKILL the reaper removes container, volume and directory."""
    process, mark = other_run()
    end(process, signal.SIGKILL)
    assert eventually(lambda: left(mark) == [], 20)


@pytest.mark.serial  # any other run on this machine sweeps too
def test_next_run_sweeps_what_a_dead_one_left() -> None:
    """Without a reaper a sweep removes what a killed run left."""
    process, mark = other_run(before=WITHOUT_REAPER)
    end(process, signal.SIGKILL)
    assert len(left(mark)) == 3
    assert container_engine.sweep_containers() == [
        f"removed container {mark}, left by a killed run",
        f"removed volume {mark}, left by a killed run",
    ]
    assert [Path(each).name for each in left(mark)] == [mark]
    sweep_directories(default_base())
    assert left(mark) == []


@pytest.mark.serial  # any other run on this machine sweeps too
def test_a_new_container_sweeps_what_a_dead_run_left(make: Make) -> None:
    """A handle that is made removes what killed runs left in the engine and in the default directory."""
    process, mark = other_run(before=WITHOUT_REAPER)
    end(process, signal.SIGKILL)
    make()
    assert left(mark) == []


@pytest.mark.serial  # any other run on this machine sweeps too
def test_sweep_leaves_what_is_not_ours() -> None:
    """A sweep keeps volumes without mark, of live owners, and of `--keep`."""
    client = container_engine.client()
    dead = str(replace(this_process(), start=1))
    others = {
        "storeproof-test-unmarked": {},
        "storeproof-test-unowned": {container_engine.LABEL: "1"},
        "storeproof-test-live": {container_engine.LABEL: "1", container_engine.OWNER_LABEL: str(this_process())},
        "storeproof-test-kept": {container_engine.LABEL: "1", container_engine.OWNER_LABEL: dead, container_engine.KEEP_LABEL: "1"},
    }
    volumes = [client.volumes.create(name, labels=labels) for name, labels in others.items()]
    try:
        assert container_engine.sweep_containers() == []
        assert {volume.name for volume in client.volumes.list()} >= set(others)
    finally:
        for volume in volumes:
            volume.remove()
