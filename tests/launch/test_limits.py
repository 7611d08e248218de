"""The cores and the memory that a local server is given: they hold for all of its processes, and nothing of them is left behind."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from storeproof.blame import CaseEnding, ending_of
from storeproof.cleanup.sweep import sweep_directories
from storeproof.errors import MachineFailed, NotAvailable, StoreproofError
from storeproof.launch.process import ProcessHandle
from storeproof.machine import memory_group
from storeproof.spec import ProcessLaunch
from tests.launch.small import FAMILY, GREETS, WITHOUT_REAPER, Run, eventually, python_server, request

CORES = sorted(os.sched_getaffinity(0))[:2]
MIB = 2**20
THREADED = "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n" + GREETS
STRAYS = "import os, sys\nos.sched_setaffinity(0, range(os.cpu_count()))\n" + GREETS
"""Sets its own cores, as some servers do."""
GROWS = """
import socket, sys
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    kept = []
    while True:
        connection, _ = server.accept()
        try:
            connection.sendall(b"hello")
            asked = connection.recv(5)
        except OSError:
            continue  # on a busy machine a probe may have given up before
        if asked == b"grow!":
            kept.append(b"x" * (256 << 20))
"""
FORKS_AND_GROWS = (
    """
import os, pathlib, sys, time
if os.fork() == 0:
    while not pathlib.Path(sys.argv[2], "grow").exists():
        time.sleep(0.01)
    kept = b"x" * (256 << 20)
"""
    + GREETS
)

needs_two = pytest.mark.skipif(len(CORES) < 2, reason="one core cannot be parted")

Make = Callable[..., ProcessHandle]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[ProcessHandle] = []

    def handle(launch: ProcessLaunch, **options: object) -> ProcessHandle:
        made.append(ProcessHandle(request(launch, tmp_path, **options)))  # type: ignore[arg-type]
        return made[-1]

    yield handle
    for each in made:
        each.close()
    assert list(tmp_path.iterdir()) == []
    assert groups(f"storeproof-{os.getpid()}-*") == []


def groups(name: str) -> list[Path]:
    """The control groups that are so called."""
    try:
        return list(memory_group.hierarchy().parent.glob(name))
    except NotAvailable:
        return []


def cores_of(handle: ProcessHandle) -> set[str]:
    """Of every thread of the server, as the kernel shows them."""
    found = set()
    for pid in handle.pids:
        for status in Path(f"/proc/{pid}/task").glob("*/status"):
            found |= {line.split()[1] for line in status.read_text().splitlines() if line.startswith("Cpus_allowed_list")}
    return found


@needs_two
@pytest.mark.parametrize("code", [THREADED, FAMILY], ids=["threads", "processes"])
def test_all_threads_of_all_processes_run_on_the_cores(make: Make, code: str) -> None:
    """Also after another start, and we are as free as before."""
    before = os.sched_getaffinity(0)
    handle = make(python_server(code), cores=(CORES[1],))
    handle.start()
    assert cores_of(handle) == {str(CORES[1])}
    handle.kill()
    handle.start()
    assert cores_of(handle) == {str(CORES[1])}
    assert os.sched_getaffinity(0) == before


@needs_two
def test_its_first_instruction_runs_on_the_cores(make: Make) -> None:
    """Memory is placed, and threads are counted, by where a server begins."""
    notes = "import os, pathlib, sys\npathlib.Path(sys.argv[2], 'cores').write_text(str(os.sched_getaffinity(0)))\n"
    handle = make(python_server(notes + GREETS), cores=(CORES[1],))
    handle.start()
    assert handle.data is not None
    assert (handle.data / "cores").read_text() == str({CORES[1]})


@needs_two
def test_a_server_that_sets_its_own_cores_is_put_back(make: Make) -> None:
    """It would run beside the load generator."""
    handle = make(python_server(STRAYS), cores=(CORES[1],))
    handle.start()
    assert cores_of(handle) == {str(CORES[1])}


@pytest.fixture
def limited() -> None:
    """Skips where memory cannot be limited."""
    try:
        where = memory_group.hierarchy()
        group = memory_group.MemoryGroup(where.parent / f"storeproof-{os.getpid()}", MIB)
        group.make(where.version)
        group.remove()
    except NotAvailable as reason:
        pytest.skip(str(reason))


def end_of(handle: ProcessHandle) -> StoreproofError:
    """The error that tells why the server does not run."""
    assert eventually(lambda: _failure(handle) is not None)
    found = _failure(handle)
    assert found is not None
    return found


def _failure(handle: ProcessHandle) -> StoreproofError | None:
    try:
        handle.check_alive()
    except StoreproofError as reason:
        return reason
    return None


@pytest.mark.usefixtures("limited")
def test_a_server_that_needs_more_memory_was_ended_by_the_limit(make: Make) -> None:
    """It is told so, it is not the store's failure, and the server can be started again."""
    handle = make(python_server(GROWS), memory=64 * MIB)
    handle.start()
    handle.check_alive()
    with socket.create_connection((handle.address.host, handle.address.port)) as connection:
        connection.recv(5)
        connection.sendall(b"grow!")
        reason = end_of(handle)
    assert isinstance(reason, MachineFailed)
    assert "it needed more than the 64 MiB that --memory allows" in str(reason)
    assert "give it more --memory" in str(reason)
    assert ending_of(reason) is CaseEnding.SPOILED
    handle.kill()
    handle.start()
    handle.check_alive()


@pytest.mark.usefixtures("limited")
def test_a_process_of_a_server_that_runs_on_was_ended_by_the_limit(make: Make) -> None:
    """Its clients lose their connections, for which the store is not to blame."""
    handle = make(python_server(FORKS_AND_GROWS), memory=64 * MIB)
    handle.start()
    assert handle.data is not None
    (handle.data / "grow").touch()
    reason = end_of(handle)
    assert handle.alive()
    assert isinstance(reason, MachineFailed)
    assert "a process of small ended: it needed more than the 64 MiB" in str(reason)


@pytest.mark.usefixtures("limited")
def test_a_server_that_cannot_even_start_is_not_run(make: Make) -> None:
    """The machine was given too little; the store is not at fault."""
    handle = make(python_server("kept = b'x' * (256 << 20)\n" + GREETS), memory=64 * MIB)
    with pytest.raises(NotAvailable, match="it needed more than the 64 MiB that --memory allows"):
        handle.start()


@pytest.mark.usefixtures("limited")
def test_every_process_of_the_server_is_limited(make: Make) -> None:
    """Also those that it had started before its parent was put into the group."""
    handle = make(python_server(FAMILY), memory=256 * MIB)
    handle.start()
    memory = handle._end_cause.memory
    assert memory is not None
    assert memory.pids() == set(handle.pids)


def test_without_the_right_to_limit_memory_nothing_is_started(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is never ignored: not run, with the remedy."""
    forbidden = tmp_path / "forbidden"
    monkeypatch.setattr("storeproof.cleanup.workdir.hierarchy", lambda: memory_group.Hierarchy(forbidden, 1))
    with pytest.raises(NotAvailable, match=r"cannot be limited in .*forbidden.*; run it as root"):
        make(python_server(GREETS), memory=64 * MIB)


@pytest.mark.usefixtures("limited")
@pytest.mark.parametrize("before", ["", WITHOUT_REAPER], ids=["by the reaper", "by the next run"])
def test_a_killed_run_leaves_no_group(tmp_path: Path, before: str) -> None:
    """After kill -9 the server, its directory and its group are removed."""
    run = Run(tmp_path, before=before, fields=f"memory={64 * MIB}")
    (group,) = groups(run.root.name)
    run.end(signal.SIGKILL)
    if before:
        assert group.exists()
        sweep_directories(tmp_path)
    assert eventually(lambda: not group.exists())
    assert eventually(lambda: run.left() == [])


@needs_two
def test_what_it_uses_is_metered(make: Make) -> None:
    """From each start on; a closed server is no longer looked at."""
    handle = make(python_server(FAMILY))
    handle.start()
    meter = handle.meter()
    assert handle.meter() is meter
    meter.begin()
    assert meter.end().cpu_seconds >= 0
    assert (meter.footprint().disk_bytes or 0) >= 0
    handle.kill()
    handle.start()
    assert handle.meter() is not meter
