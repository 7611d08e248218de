"""Rounds that were watched become one table, and what it cannot be told of is not told."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.anatomy.meter import AnatomyMeter
from storeproof.anatomy.watch import WatchedIo
from storeproof.result.anatomy import Anatomy
from storeproof.spec import Mix
from storeproof.spec.store.files import FileRule
from storeproof.stats.latency import encode, new_histogram

RULES = (FileRule(kind="journal", paths=("*.wal",)), FileRule(kind="merge", paths=("*.run",), thread="compact*"))


def times(*milliseconds: float) -> str:
    histogram = new_histogram()
    for each in milliseconds:
        histogram.record_value(int(each * 1e6))
    return encode(histogram)


def io(**given: Any) -> Any:
    empty = {"written_bytes": 0, "direct_writes": 0, "direct_bytes": 0, "syncs": 0, "waits": "", "wait_ns": 0, "busy_ns": 0}
    return SimpleNamespace(**{**empty, "reads": 0, "read_bytes": 0, "read_waits": "", **given})


JOURNAL = io(written_bytes=1000, syncs=3, waits=times(4, 5, 6), busy_ns=700_000_000)


def watched(lost: int = 0, **kinds: Any) -> WatchedIo:
    device: Any = SimpleNamespace(writes=9, written_bytes=8000, flushes=6, flush_waits=times(1, 2))
    return WatchedIo(nanoseconds=10**9, kinds=kinds, device=device, lost=lost, matched=frozenset({0}))


def table(*rounds: WatchedIo, operation: Any = "put", closed: bool = True) -> Anatomy:
    """With one second of clients and 100 records in each round."""
    meter = AnatomyMeter()
    meter._handle, meter._rules, meter._operations = SimpleNamespace(), RULES, {operation}
    for each in rounds:
        meter._keep(each)
    part = SimpleNamespace(operation=operation, ok=100)
    results: Any = [SimpleNamespace(elapsed_seconds=1.0, throughput=100.0, operations={operation: part})] * len(rounds)
    found = meter.anatomy(results, 5, closed=closed)
    assert found is not None
    return found


def test_rounds_are_added() -> None:
    """Counts, bytes and times of all of them; the share is of the clients' time."""
    merge = io(direct_writes=2, direct_bytes=500, waits=times(1, 3), read_bytes=4096, reads=1, read_waits=times(8))
    found = table(watched(journal=JOURNAL), watched(journal=JOURNAL, merge=merge))
    journal = found.kinds["journal"]
    assert journal.waits is not None
    assert (journal.syncs, journal.written_bytes, journal.waits.samples) == (6, 2000, 6)
    assert found.client_share == pytest.approx(0.7)
    waits = found.mean_waits
    assert (waits.journal, waits.merge_write, waits.merge_read) == pytest.approx((5000, 2000, 8000), rel=0.001)
    assert waits.save is None, "none was visible, which is not zero"
    assert [each.merge_write for each in found.by_round] == [None, pytest.approx(2000, rel=0.001)]
    assert [each.journal for each in found.by_round] == pytest.approx([5000, 5000], rel=0.001)
    assert waits.overall == pytest.approx(5000, rel=0.001), "the mean of the three kinds, each as often as the others"
    assert (found.client_bytes, found.file_bytes, found.files_per_client) == (1000, 2500, 2.5)
    assert found.device is not None
    assert (found.device.written_bytes, found.device_per_client, found.device.flushes_per_sync) == (16_000, 16.0, 2.0)
    assert found.unmatched == ["merge: *.run by compact*"]
    assert not found.invalid


def test_each_round_has_waits_of_its_own() -> None:
    """By which it is known from when on they are steady; a round without a kind has none of it."""
    quick, slow = (watched(journal=io(written_bytes=1000, syncs=1, waits=times(each))) for each in (4, 8))
    none = watched(save=JOURNAL)
    found = table(slow, *[quick] * 5)
    assert [each.journal for each in found.by_round] == pytest.approx([8000, *[4000] * 5], rel=0.001)
    assert found.steady_from == 2
    assert table(*[slow, quick] * 5).steady_from is None, "it drifts"
    assert table(*[quick] * 4).steady_from is None, "too few to say"
    assert table(none, *[quick] * 4).steady_from == 1, "the rate alone, where a round has no journal"


def test_lost_records_invalidate() -> None:
    """Also one of a thousand rounds: it may have been the longest wait."""
    assert table(watched(journal=JOURNAL), watched(lost=1, journal=JOURNAL)).invalid == ["complete"]


@pytest.mark.parametrize("kind", ["other", "unnamed"])
@pytest.mark.parametrize("given", [{"written_bytes": 20}, {"syncs": 1}, {"syncs": 0, "waits": times(0.2)}])
def test_more_than_a_hundredth_without_a_kind_invalidates(kind: str, given: dict[str, Any]) -> None:
    """Of the bytes, the syncs, or the time that is waited."""
    assert table(watched(journal=JOURNAL, **{kind: io(**given)})).invalid == ["classified"]
    assert not table(watched(journal=JOURNAL, **{kind: io(written_bytes=10)})).invalid


def test_a_store_that_never_syncs() -> None:
    """Its clients wait for no journal, and there is no mean of nothing."""
    found = table(watched(journal=io(written_bytes=1000)))
    assert (found.mean_waits.journal, found.mean_waits.overall, found.client_share) == (None, None, 0.0)
    assert found.device is not None
    assert found.device.flushes_per_sync is None


def test_other_programs_on_the_device() -> None:
    """What reached it is then not known to be the store's; its files are."""
    found = table(watched(journal=JOURNAL, elsewhere=io(written_bytes=1000)))
    assert (found.device, found.device_per_client, found.file_bytes) == (None, None, 1000)
    assert found.device_reason == "other programs wrote 50 % of all bytes on the same file system"
    assert table(watched(journal=JOURNAL, elsewhere=io(written_bytes=5))).device is not None


def test_what_is_not_known_is_none() -> None:
    """Bytes of the clients where they write parts of records, and their share in an open loop."""
    found = table(watched(journal=JOURNAL), operation="set_fields", closed=False)
    assert (found.client_bytes, found.files_per_client, found.device_per_client, found.client_share) == (None, None, None, None)


def test_a_workload_that_only_reads_is_not_watched() -> None:
    """And says so."""
    meter = AnatomyMeter(SimpleNamespace(), RULES, [Mix(operation="get", keys="uniform")])
    assert meter.reason == "the workload only reads"
    with meter.measured_round():
        pass
    assert meter.anatomy([], 5, closed=True) is None
