"""One store on several disks: each two are compared, its rates and its waits by kind of I/O; no store is set against another."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.report.comparison.content import of_comparison, of_waits
from storeproof.report.comparison.files import across_data
from storeproof.result.anatomy import MeanWaits
from storeproof.result.compare import Comparison, compare, sides_of
from storeproof.result.machine import DiskSheet, WriteTimes
from storeproof.result.model import Result
from storeproof.result.ratios.across_disks import across_disks, waits_of
from tests.report.test_anatomy import FOUND, LOST
from tests.result.test_compare import rounds, side

FAST, SLOW = rounds(2000, 1010, 1980), rounds(1000, 500, 990)
SHEET = DiskSheet(
    disk="/dev/sda (rotational)",
    filesystem="ext4 (rw)",
    device="8:1",
    append=WriteTimes(samples=200, p50=8000.0, p99=None),
    overwrite=None,
    direct=None,
    write_bytes_per_second=2.0**27,
    read_bytes_per_second=None,
)


def waits(*journal: float | None) -> dict[str, Any]:
    """An anatomy with that mean wait for the journal in each round, in microseconds."""
    by_round = [MeanWaits(journal=each, save=None, merge_write=None, merge_read=None, overall=None) for each in journal]
    return FOUND.model_copy(update={"by_round": by_round}).model_dump()


def on_disks(*stores: tuple[str, str | None, dict[str, Any]]) -> Result:
    """A run of stores, each with its name, its disk, and what was measured of it; the rounds of all were interleaved."""
    names = [f"{name}:wal-full" + (f"@{disk}" if disk else "") for name, disk, _ in stores]
    sides = [side(interleaved_with=names, **measured) for _, _, measured in stores]
    found = [each.store.model_copy(update={"store": name, "disk": disk}) for each, (name, disk, _) in zip(sides, stores, strict=True)]
    result = sides[0].result
    sheets = {disk: SHEET.model_copy(update={"disk": f"/dev/{disk}"}) for _, disk, _ in stores if disk}
    return result.model_copy(update={"stores": found, "environment": result.environment.model_copy(update={"disks": sheets})})


def only(result: Result) -> Comparison:
    (found,) = across_disks(sides_of(result))
    return found


def test_a_store_is_compared_with_itself_on_each_other_disk() -> None:
    """In the order of the result; other stores and those on no disk of a name are not."""
    same: dict[str, Any] = {"rounds": FAST}
    result = on_disks(("redis", "a", same), ("redis", "b", same), ("redis", "c", same), ("sqlite", "a", same), ("etcd", None, same))
    pairs = [(each.a.name, each.b.name) for each in across_disks(sides_of(result))]
    assert pairs == [(f"redis:wal-full@{one}", f"redis:wal-full@{other}") for one, other in ("ab", "ac", "bc")]


@pytest.mark.parametrize("proven", ["power_loss", None])
def test_the_disks_differ_and_the_rates_have_a_ratio(proven: str | None) -> None:
    """Block by block, and also where durability was not tried in the run: it is that of one store."""
    found = only(on_disks(("redis", "a", {"rounds": FAST, "proven": proven}), ("redis", "b", {"rounds": SLOW, "proven": proven})))
    (pair,) = found.pairs
    assert (pair.paired, pair.refused) == (True, ())
    assert pair.ratio is not None
    assert pair.ratio.middle == pytest.approx(2, rel=0.01)
    assert list(waits_of(pair)) == [], "its I/O was not watched"
    assert of_waits(found) is None
    assert "a and b are directories of one file system: what differs between them is noise" in [
        each.text for each in of_comparison(found).notes
    ]
    assert of_comparison(found).about[1] == (
        "A  disk a: /dev/a, ext4 (rw); 600 bytes appended and synced 8 ms; 128 MiB/s written in sequence"
    )


def test_of_two_disks_no_note_says_that_they_are_one() -> None:
    """They have file systems of their own."""
    result = on_disks(("redis", "a", {}), ("redis", "b", {}))
    sheets = {**result.environment.disks, "b": SHEET.model_copy(update={"device": "8:2"})}
    apart = result.model_copy(update={"environment": result.environment.model_copy(update={"disks": sheets})})
    assert [each for each in _notes(only(apart)) if "one file system" in each] == []


def _notes(found: Comparison) -> list[str]:
    return [each.text for each in of_comparison(found).notes]


def test_a_disk_that_has_shown_less_is_refused() -> None:
    """It may be as fast as it is since it does not keep what it says that it has."""
    (pair,) = only(on_disks(("redis", "a", {"proven": "power_loss"}), ("redis", "b", {"proven": "process_crash"}))).pairs
    assert pair.refused == ("proven durability differs: power_loss against process_crash",)


def test_elsewhere_numbers_of_unlike_disks_have_no_ratio() -> None:
    """Of two stores it would be one of two disks; on one disk it is of two stores, also where the run has others."""
    result = on_disks(("redis", "a", {}), ("sqlite", "b", {}), ("sqlite", "a", {}))
    redis, other, same = sides_of(result)
    assert compare(redis, other).pairs[0].refused == ("machine: disk differs: /dev/a against /dev/b",)
    assert compare(redis, same).pairs[0].refused == ()


def test_waits_have_a_ratio_over_the_blocks_of_both() -> None:
    """A block in which one disk saw none does not count; what was seen on one disk alone has no line."""
    a, b = waits(1000.0, 900.0, None, 1100.0), waits(100.0, 90.0, 5.0, 110.0)
    four = {"rounds": rounds(1, 1, 1, 1)}
    found = only(on_disks(("redis", "a", four | {"anatomy": a}), ("redis", "b", four | {"anatomy": b})))
    journal, overall = waits_of(found.pairs[0])
    assert (journal.kind, journal.a, journal.refused) == ("journal", 1400.0, "")
    assert journal.ratio is not None
    assert (journal.ratio.middle, journal.ratio.low, journal.ratio.high) == pytest.approx((10, 10, 10))
    assert (overall.kind, overall.ratio, overall.refused) == ("overall", None, "seen in 0 blocks of both, and 2 at least are needed")
    content = of_waits(found)
    assert content is not None
    assert [cell.text for cell in content.table.rows[0]] == ["single-get (50c, 0i): journal", "1.4 ms", "1.4 ms", "10.0× [10.0, 10.0]"]
    assert content.notes[0].text == "no ratio of overall: seen in 0 blocks of both, and 2 at least are needed"
    written = across_data(found)["pairs"][0]["waits"]
    assert [(each["kind"], each["ratio"] and round(each["ratio"]["middle"])) for each in written] == [("journal", 10), ("overall", None)]


def test_waits_that_are_not_valid_have_no_ratio() -> None:
    """A record that was lost may have been the longest wait."""
    found = only(on_disks(("redis", "a", {"anatomy": waits(1.0, 2.0)}), ("redis", "b", {"anatomy": waits(1.0, 2.0) | LOST})))
    assert {each.refused for each in waits_of(found.pairs[0])} == {"B: not valid: complete"}


def test_where_no_disk_is_named_nothing_is_compared() -> None:
    """Two stores without one are two stores."""
    assert across_disks(sides_of(on_disks(("redis", None, {}), ("sqlite", None, {})))) == []
