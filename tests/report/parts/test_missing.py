"""What a profile misses is told once for all variants that miss it alike, the nearest misses first."""

from __future__ import annotations

from storeproof.report.parts.missing import missing
from storeproof.result.model import Result
from tests.site.made import judged, result, store

NO_TEXT = "unsupported: no texts: none at all"


def lines(made: Result) -> list[list[str]]:
    """The texts of the table of the one profile that is not met."""
    (table,) = missing(made).values()
    return [[cell.text for cell in row] for row in table.rows]


def test_each_reason_has_a_row_with_all_that_it_explains() -> None:
    """Cases of one capability are one thing, and what has a reason of its own comes first, as the nearest miss."""
    found = [
        "model nested: not claimed",
        f"capability text.word/001: {NO_TEXT}",
        f"capability text.word/002: {NO_TEXT}",
        f"capability text.phrase/001: {NO_TEXT}",
    ]
    made = result(store("redis:x", profiles=[judged("search_store", "does_not_conform", found)]))
    assert lines(made) == [
        ["redis: x", "lacks 3", "model nested", "not claimed"],
        ["redis: x", "lacks 3", "text.word, text.phrase", "no texts: none at all"],
    ]


def test_a_capability_is_told_once_although_its_pushdown_lacks_for_another_reason() -> None:
    """With the reason of its first case; a case that failed is told before one that is lacking."""
    found = [f"capability text.word/001: {NO_TEXT}", "capability text.word/pushdown: unsupported: not asked"]
    assert [row[2:] for row in lines(result(store("redis:x", profiles=[judged("s", "does_not_conform", found)])))] == [
        ["text.word", "no texts: none at all"]
    ]
    worse = [*found, "capability text.word/002: fail: wrong order"]
    assert [row[1:] for row in lines(result(store("redis:x", profiles=[judged("s", "does_not_conform", worse)])))] == [
        ["fails 1", "text.word", "fail: wrong order"]
    ]


def test_variants_that_miss_the_same_share_a_row_and_the_nearest_store_comes_first() -> None:
    """What was not tried is no miss, and comes last."""
    one, two = ([f"capability text.{name}/001: {NO_TEXT}" for name in names] for names in (["word"], ["word", "phrase"]))
    made = result(
        store("far:a", profiles=[judged("s", "does_not_conform", two)]),
        store("near:a", profiles=[judged("s", "does_not_conform", one)]),
        store("open:a", profiles=[judged("s", "incomplete", ["guarantee power_loss: not_run"])]),
        store("near:b", profiles=[judged("s", "does_not_conform", one)]),
        store("whole:a", profiles=[judged("s", "conforms")]),
    )
    assert [row[:2] for row in lines(made)] == [["near: a, b", "lacks 1"], ["far: a", "lacks 2"], ["open: a", "not shown"]]


def test_a_profile_that_every_store_meets_has_no_table() -> None:
    """There is nothing to tell."""
    assert missing(result(store("redis:x", profiles=[judged("cache", "conforms")]))) == {}
