"""A first start that is struck in the middle: nothing more is begun, and the next start is as the directory is."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.errors import StoreDied
from storeproof.launch.process import ProcessHandle
from storeproof.spec import ProcessLaunch
from tests.launch.small import GREETS, python_server, request

SLOW = "import pathlib, sys, time; pathlib.Path(sys.argv[1], 'begun').touch(); time.sleep(30)"


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[ProcessHandle]:
    """Its directory is made by a command that takes half a minute."""
    server = python_server(GREETS)
    launch: ProcessLaunch = server.model_copy(update={"initialise": ((server.binary, "-c", SLOW, "${data}"),)})
    made = ProcessHandle(request(launch, tmp_path))
    yield made
    made.close()
    assert list(tmp_path.iterdir()) == []


def begun(handle: ProcessHandle) -> tuple[threading.Thread, list[BaseException]]:
    """A start in a thread, until its command runs."""
    failures: list[BaseException] = []

    def start() -> None:
        try:
            handle.start_nowait()
        except BaseException as reason:  # noqa: BLE001 - looked at by the test
            failures.append(reason)

    starting = threading.Thread(target=start)
    starting.start()
    assert handle.data is not None
    deadline = time.monotonic() + 20
    while not (handle.data / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return starting, failures


def test_a_kill_ends_the_start_that_another_thread_is_in_the_middle_of(handle: ProcessHandle) -> None:
    """A kill during initialisation ends that start: the server itself is not started."""
    starting, failures = begun(handle)
    handle.kill()
    starting.join(10)
    assert not starting.is_alive()
    assert [type(each) for each in failures] == [StoreDied]
    assert not handle.alive(), "the server is not begun after its first command was killed"
    assert handle.initialised is False


def test_an_emptied_directory_is_made_again(handle: ProcessHandle) -> None:
    """After `empty` the next start runs the initialisation again."""
    starting, _ = begun(handle)
    handle.kill()
    starting.join(10)
    assert handle.data is not None
    assert [each.name for each in handle.data.iterdir()] == ["begun"]
    handle.empty()
    assert list(handle.data.iterdir()) == []
    starting, _ = begun(handle)
    assert (handle.data / "begun").exists(), "its commands are run again"
    handle.kill()
    starting.join(10)


def test_a_killed_handle_starts_again(tmp_path: Path) -> None:
    """Only a start that was under way is ended by a kill."""
    made = ProcessHandle(request(python_server(GREETS), tmp_path))
    try:
        made.kill()
        made.start()
        assert made.initialised
    finally:
        made.close()
