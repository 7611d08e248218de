"""Which cores are the server's and which the load generator's, and whether threads are really there."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from storeproof.errors import MachineFailed
from storeproof.machine import cores
from storeproof.machine.cores import CoreSplit, hold, running_on, shown, split, split_of_this_machine

TWO = sorted(os.sched_getaffinity(0))[:2]
needs_two = pytest.mark.skipif(len(TWO) < 2, reason="one core cannot be parted")


@pytest.mark.parametrize(
    ("count", "server", "generator"),
    [(4, "0-1", "2-3"), (5, "0-2", "3-4"), (8, "0-5", "6-7"), (16, "0-11", "12-15"), (64, "0-47", "48-63")],
)
def test_the_last_quarter_is_the_load_generators(count: int, server: str, generator: str) -> None:
    """And at least two cores are: on one it would be the limit of the fastest servers."""
    found = split(range(count))
    assert (shown(found.server), shown(found.generator), found.shared) == (server, generator, "")
    assert found.apart == found.generator


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_cores_are_shared_and_it_says_so(count: int) -> None:
    """Both sides have all of them, and the reason is told."""
    found = split(range(count))
    assert found.server == found.generator == tuple(range(count))
    assert found.shared == f"{count} core{'s' if count > 1 else ''}: client and server share them"
    assert found.apart == ()


def test_two_cores_are_parted_where_that_is_asked_for() -> None:
    """Each side has one."""
    assert split([0, 1], fewest=2) == CoreSplit((0,), (1,))


def test_only_the_cores_that_may_be_used_are_parted() -> None:
    """Of eight cores a process that is bound to 1, 3, 5 and 7 parts these."""
    assert split([7, 5, 3, 1]) == CoreSplit((1, 3), (5, 7))
    assert split([3, 5]).shared


def test_the_threads_of_a_physical_core_stay_together() -> None:
    """Numbered as on most machines, core 0 and core 4 are one: a server on 0 and a load generator on 4 would share its units."""
    pairs = [{0, 4}, {1, 5}, {2, 6}, {3, 7}]
    assert split(range(8), pairs) == CoreSplit((0, 1, 2, 4, 5, 6), (3, 7))
    assert split(range(4), [{0, 2}, {1, 3}]) == CoreSplit((0, 2), (1, 3))
    assert split(range(4), [{0, 1, 2, 3}]).shared == "4 threads of one core: client and server share it"
    assert split([0, 1, 2, 3, 7], pairs) == CoreSplit((0, 1, 2), (3, 7)), "of a thread that may not be used nothing is known"


def test_a_store_may_be_given_fewer() -> None:
    """The load generator keeps its own; on shared cores it has what the stores do not."""
    assert split(range(8)).giving(2) == CoreSplit((0, 1), (6, 7))
    assert split([0, 1]).giving(1) == CoreSplit((0,), (1,))
    assert split([0, 1]).giving(2) == split([0, 1])
    for cores_given in (0, 7):
        with pytest.raises(ValueError, match="1 to 6 cores"):
            split(range(8)).giving(cores_given)


@needs_two
def test_this_machine_is_seen_through_the_affinity_of_this_process() -> None:
    """As `taskset` limits it."""
    with running_on(TWO[:1]):
        assert split_of_this_machine().server == (TWO[0],)
    assert {*split_of_this_machine().server, *split_of_this_machine().generator} == os.sched_getaffinity(0)


@needs_two
def test_what_a_thread_starts_meanwhile_stays_and_the_thread_is_released() -> None:
    """A process and a thread that were started on a core are still there afterwards."""
    before = os.sched_getaffinity(0)
    seen: list[set[int]] = []
    go_on = threading.Event()

    def look() -> None:
        go_on.wait(10)
        seen.append(os.sched_getaffinity(0))

    with running_on(TWO[1:]):
        thread = threading.Thread(target=look)
        thread.start()
        process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert os.sched_getaffinity(0) == before
        assert os.sched_getaffinity(process.pid) == {TWO[1]}
    finally:
        go_on.set()
        thread.join()
        process.communicate(b"\n")
    assert seen == [{TWO[1]}]


def test_no_cores_leave_all_as_it_is() -> None:
    """An empty list is no order."""
    before = os.sched_getaffinity(0)
    with running_on(()):
        assert os.sched_getaffinity(0) == before


def test_cores_that_are_not_there_are_an_error() -> None:
    """In words, before anything runs."""
    with pytest.raises(MachineFailed, match="cores 9999 cannot be used"), running_on((9999,)):
        raise AssertionError


FORKS = "import os, threading; threading.Thread(target=input).start(); os.fork(); print(flush=True); threading.Event().wait(30)"
"""Two threads, and a child."""


@needs_two
def test_threads_that_went_elsewhere_are_put_back() -> None:
    """All threads of all processes; one that is on some of the cores already stays on them."""
    process = subprocess.Popen([sys.executable, "-c", FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        threads = cores._threads(process.pid)
        assert len(threads) == 2
        hold([process.pid], TWO, "small")
        assert all(os.sched_getaffinity(each) == set(TWO) for each in threads) or len(os.sched_getaffinity(0)) == 2
        hold([process.pid], TWO[1:], "small")
        assert all(os.sched_getaffinity(each) == {TWO[1]} for each in threads)
        hold([process.pid], TWO, "small")
        assert all(os.sched_getaffinity(each) == {TWO[1]} for each in threads)
    finally:
        for child in map(int, open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()):  # noqa: SIM115, PTH123
            os.kill(child, 9)
        process.kill()
        process.wait()


def test_a_thread_that_cannot_be_put_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read back: a kernel that says yes and does nothing is found out."""
    monkeypatch.setattr(cores.os, "sched_getaffinity", lambda _thread: {0, 1})
    monkeypatch.setattr(cores.os, "sched_setaffinity", lambda _thread, _wanted: None)
    with pytest.raises(MachineFailed, match="small runs on cores 0-1, not on 7"):
        hold([os.getpid()], [7], "small")


def test_cores_are_written_as_the_kernel_writes_them() -> None:
    """Runs with a hyphen; and read so."""
    assert shown([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8"
    assert cores.read_cores("0-2,5,7-8\n") == [0, 1, 2, 5, 7, 8]
