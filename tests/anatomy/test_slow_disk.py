"""A delay of five milliseconds on the syncs of one kind is seen there, as long as it was, and in no other kind.

The disk is ext4 on a loop device over a file of the disk in memory. While the process that serves that is stopped, a sync waits.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Final

import pytest

from storeproof.anatomy.watch import IoWatch
from storeproof.disk.ext4 import Ext4Disk
from storeproof.disk.fuse import FuseDisk
from storeproof.errors import NotAvailable
from storeproof.machine.process_tree import read_stat
from storeproof.stats.latency import decode
from tests.anatomy.test_watch import RULES

pytestmark = [pytest.mark.slow, pytest.mark.serial]

_DELAY: Final = 0.005
_TIMES: Final = 40


@pytest.fixture
def slow_disk(watched: Path) -> Iterator[tuple[Path, int]]:
    """A directory on it, and the process to stop."""
    below, at = watched / "below", watched / "at"
    below.mkdir()
    at.mkdir()
    try:
        memory = FuseDisk(below)
    except NotAvailable as reason:
        pytest.skip(str(reason))
    with closing(memory), closing(Ext4Disk(at, below / "image")):
        yield at, memory._host.pid


def synced(file: int) -> tuple[float, float]:
    """When a sync began and ended."""
    os.write(file, b"x" * 600)
    begun = time.monotonic()
    os.fdatasync(file)
    return begun, time.monotonic()


def delayed(file: int, host: int) -> tuple[float, float, float]:
    """The same while the disk stands still, and when it went on."""
    went_on = []

    def go_on() -> None:
        went_on.append(time.monotonic())
        os.kill(host, signal.SIGCONT)

    os.kill(host, signal.SIGSTOP)
    timer = threading.Timer(_DELAY, go_on)
    try:
        while (stat := read_stat(host)) is not None and stat.state != "T":
            time.sleep(0)
        timer.start()
        begun, ended = synced(file)
        timer.join(30)
    finally:
        os.kill(host, signal.SIGCONT)
    return begun, ended, went_on[0]


def test_a_delay_is_seen_in_its_kind_alone(slow_disk: tuple[Path, int]) -> None:
    """Not shorter than the disk stood still, to a tenth, and not longer than the process waited; nothing of it is in the other kind, whose
    syncs come between. On a busy machine both bounds are later than they were meant to be, and hold."""
    folder, host = slow_disk
    journal, save = (os.open(folder / name, os.O_WRONLY | os.O_CREAT, 0o600) for name in ("a.wal", "a.db"))
    synced(journal)
    synced(save)
    watch = IoWatch(folder, [os.getpid()], RULES)
    watch.begin()
    waits, stood, others = [], [], []
    for _ in range(_TIMES):
        begun, ended, went_on = delayed(journal, host)
        waits.append(ended - begun)
        stood.append(went_on - begun)
        begun, ended = synced(save)
        others.append(ended - begun)
    found = watch.end()
    os.close(journal)
    os.close(save)
    assert found.lost == 0
    seen, beside = decode(found.kinds["journal"].waits), decode(found.kinds["save"].waits)
    assert seen.get_total_count() == beside.get_total_count() == _TIMES
    p50 = seen.get_value_at_percentile(50) / 1e9
    assert median(stood) > _DELAY / 2
    assert 0.9 * median(stood) <= p50 <= 1.01 * median(waits)
    assert beside.get_value_at_percentile(50) / 1e9 <= 1.01 * median(others)
    assert beside.get_min_value() / 1e9 < _DELAY / 2
