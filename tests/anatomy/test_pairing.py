"""What the kernel's records say together: synthetic ones, in the order in which a disk that is busy makes them."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from storeproof.stats.latency import decode

if TYPE_CHECKING:
    from storeproof.native import DeviceIo, KindIo

native = pytest.importorskip("storeproof.native")

SAMPLE = 9
"""The kind of a record (PERF_RECORD_SAMPLE), and below the letters of a request: of a read, a write, and a flush."""
READ, WRITE, FLUSH = (int.from_bytes(letters, "little") for letters in (b"R\0", b"W\0", b"FF\0"))
FIELDS = {
    "ext4/ext4_sync_file_enter": ["ino"],
    "ext4/ext4_sync_file_exit": ["ino"],
    "ext4/ext4_da_write_end": ["ino", "copied"],
    "ext4/ext4_write_end": ["ino", "copied"],
    "ext4/ext4_allocate_inode": ["ino", "dir"],
    "iomap/iomap_dio_rw_begin": ["ino", "pos", "count", "ki_flags"],
    "iomap/iomap_iter": ["ino", "pos", "flags"],
    "iomap/iomap_dio_complete": ["ino", "pos", "ret"],
    "block/block_bio_queue": ["sector", "nr_sector", "rwbs"],
    "block/block_rq_issue": ["sector", "bytes", "rwbs"],
    "block/block_rq_requeue": ["sector", "nr_sector", "rwbs"],
    "block/block_rq_complete": ["sector", "nr_sector", "rwbs"],
}
SERVER, KERNEL = 7, 3
"""Threads: the server's, and one that issues what has waited."""
OWN, OTHERS = 0, 1
"""Kinds."""
MINUTE = 60_000_000_000
"""Nanoseconds."""


class Trace:
    """Feeds one record after the other, a microsecond apart."""

    def __init__(self) -> None:
        def format_of(number: int, point: str) -> str:
            lines = [f"\tfield:u64 {field};\toffset:{8 + 8 * place};\tsize:8;\tsigned:0;" for place, field in enumerate(FIELDS[point])]
            return "\n".join([f"ID: {number}", *lines])

        points = native.IoTrace.points()
        files = SimpleNamespace(
            kind=lambda _inode, _pid, tid: OWN if tid == SERVER else OTHERS,
            reader=lambda _pid, tid: OWN if tid == SERVER else OTHERS,
            created=lambda _inode, _directory: None,
        )
        self._trace = native.IoTrace({point: format_of(number, point) for number, point in enumerate(points)}, files)
        self._ids = {point.partition("/")[2]: number for number, point in enumerate(points)}
        self._time = 0

    def record(self, point: str, thread: int, *fields: int) -> None:
        self._time += 1000
        raw = struct.pack("=H6x", self._ids[point]) + struct.pack(f"={len(fields)}Q", *fields)
        body = struct.pack("=IIQI", thread, thread, self._time, len(raw)) + raw
        self._trace.feed([struct.pack("=IHH", SAMPLE, 0, 8 + len(body)) + body], 2**63)

    def end(self, later: int = 0) -> tuple[dict[int, KindIo], DeviceIo, int]:
        """By kind, of the device, and lost records. `later`: nanoseconds after the last record."""
        return self._trace.end(self._time + later), self._trace.device(), self._trace.lost


def count(waits: str) -> int:
    return decode(waits).get_total_count() if waits else 0


def test_a_read_counts_for_the_thread_that_asked() -> None:
    """Also where a thread of the kernel issues it: two that were asked for as one, and one that was asked for in two parts."""
    trace = Trace()
    trace.record("block_bio_queue", SERVER, 100, 16, READ)
    trace.record("block_bio_queue", KERNEL, 200, 8, READ)
    trace.record("block_bio_queue", KERNEL, 208, 8, READ)
    for first, sectors in [(100, 8), (108, 8), (200, 16)]:
        trace.record("block_rq_issue", KERNEL, first, 512 * sectors, READ)
        trace.record("block_rq_complete", 0, first, sectors, READ)
    kinds, _, lost = trace.end(MINUTE)
    assert [(kinds[kind].reads, kinds[kind].read_bytes, count(kinds[kind].read_waits)) for kind in (OWN, OTHERS)] == [
        (2, 8192, 2),
        (1, 8192, 1),
    ]
    assert not lost


def test_what_is_issued_again_counts_once() -> None:
    """A device that had no room. The wait is that since the last time."""
    trace = Trace()
    trace.record("block_bio_queue", SERVER, 100, 8, READ)
    trace.record("block_rq_issue", SERVER, 100, 4096, READ)
    trace.record("block_rq_requeue", SERVER, 100, 8, READ)
    trace.record("block_rq_issue", KERNEL, 100, 4096, READ)
    trace.record("block_rq_complete", 0, 100, 8, READ)
    for letters, sectors in [(WRITE, 8), (FLUSH, 0)]:
        trace.record("block_rq_issue", SERVER, 0, 512 * sectors, letters)
        trace.record("block_rq_requeue", SERVER, 0, sectors, letters)
        trace.record("block_rq_issue", KERNEL, 0, 512 * sectors, letters)
    trace.record("block_rq_complete", 0, 2**64 - 1, 0, FLUSH)
    kinds, device, lost = trace.end(MINUTE)
    assert (kinds[OWN].reads, kinds[OWN].read_bytes, count(kinds[OWN].read_waits), set(kinds)) == (1, 4096, 1, {OWN})
    assert (device.writes, device.written_bytes, device.flushes, count(device.flush_waits), lost) == (1, 4096, 1, 1, 0)


@pytest.mark.parametrize(("later", "lost"), [(0, 0), (MINUTE, 2)])
def test_an_end_that_is_missing_is_lost(later: int, lost: int) -> None:
    """Of a read and of a flush; not where it may be under way yet."""
    trace = Trace()
    trace.record("block_rq_issue", SERVER, 100, 4096, READ)
    trace.record("block_rq_issue", SERVER, 0, 0, FLUSH)
    kinds, device, found = trace.end(later)
    assert found == lost
    assert (kinds[OWN].reads, kinds[OWN].read_waits, device.flushes, device.flush_waits) == (1, "", 1, "")


def test_of_two_reads_at_one_place_the_end_of_the_first_is_lost() -> None:
    """The second has its own."""
    trace = Trace()
    trace.record("block_rq_issue", SERVER, 100, 4096, READ)
    trace.record("block_rq_issue", SERVER, 100, 4096, READ)
    trace.record("block_rq_complete", 0, 100, 8, READ)
    kinds, _, lost = trace.end()
    assert (kinds[OWN].reads, count(kinds[OWN].read_waits), lost) == (2, 1, 1)


def test_a_direct_write_says_that_it_is_one_before_it_is_issued() -> None:
    """Its sync is within its wait, whichever thread issues it; a direct read is none, and nothing is missing where it is repeated."""
    trace = Trace()
    direct, synced = 1 << 4, 2
    trace.record("iomap_dio_rw_begin", SERVER, 5, 0, 4096, synced)
    trace.record("iomap_iter", SERVER, 5, 0, direct | 1)
    trace.record("block_rq_issue", KERNEL, 800, 4096, WRITE)
    trace.record("ext4_sync_file_enter", SERVER, 5)
    trace.record("ext4_sync_file_exit", SERVER, 5)
    trace.record("iomap_iter", SERVER, 5, 4096, direct | 1)
    trace.record("iomap_dio_complete", SERVER, 5, 4096, 4096)
    for _ in range(2):
        trace.record("iomap_dio_rw_begin", SERVER, 5, 0, 4096, synced)
        trace.record("iomap_iter", SERVER, 5, 0, direct)
        trace.record("iomap_dio_complete", SERVER, 5, 4096, 4096)
    kinds, _, lost = trace.end()
    assert (kinds[OWN].direct_writes, kinds[OWN].direct_bytes, kinds[OWN].syncs, count(kinds[OWN].waits), lost) == (1, 4096, 1, 1, 0)
