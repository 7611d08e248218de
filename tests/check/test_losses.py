"""Shape and window of a loss."""

from __future__ import annotations

from storeproof.check import Losses, Shape, judge_key, losses, unstartable, worst
from storeproof.history import ABSENT, Observation, Operation
from tests.check.histories import operation

_MS = 1_000_000


def put(key: str, at: int) -> Operation:
    """An acknowledged put that took from `at` to `at + 1` milliseconds."""
    return operation(0, "put", "single_key", key, f"{key}{at}", 0, at * _MS, (at + 1) * _MS, "ok")


def seen(write: Operation) -> Observation:
    """Its record."""
    return Observation("whole", write.write_id)


def test_nothing_lost_is_no_shape_at_all() -> None:
    """No window is told where nothing is missing."""
    a = put("a", 1)
    assert losses([judge_key([a], seen(a))], 99 * _MS) == Losses(Shape.NOTHING, 0, 0.0)


def test_a_lost_tail_is_a_suffix() -> None:
    """All before some moment is there, all after it is gone; the window runs from the oldest lost acknowledgement to the fault."""
    a, b, c = put("a", 1), put("b", 10), put("c", 20)
    lost = losses([judge_key([a], seen(a)), judge_key([b], ABSENT), judge_key([c], ABSENT)], 30 * _MS)
    assert lost == Losses(Shape.SUFFIX, 2, 19.0)


def test_a_survivor_that_began_after_a_lost_write_makes_a_hole() -> None:
    """b is gone, c is there, though c began when b had long been acknowledged."""
    a, b, c = put("a", 1), put("b", 10), put("c", 20)
    assert losses([judge_key([a], seen(a)), judge_key([b], ABSENT), judge_key([c], seen(c))], 30 * _MS).shape is Shape.HOLES


def test_a_survivor_that_overlaps_the_lost_write_makes_none() -> None:
    """Inside the store it may have come first."""
    b = operation(0, "put", "single_key", "b", "b", 0, 10 * _MS, 20 * _MS, "ok")
    c = operation(1, "put", "single_key", "c", "c", 0, 15 * _MS, 16 * _MS, "ok")
    assert losses([judge_key([b], ABSENT), judge_key([c], seen(c))], 30 * _MS).shape is Shape.SUFFIX


def test_a_kept_delete_is_no_survivor() -> None:
    """A store that lost everything shows absence too: it must not look like one with holes."""
    a, b = put("a", 1), put("b", 2)
    delete = operation(0, "delete", "single_key", "b", "", 0, 10 * _MS, 11 * _MS, "ok")
    assert losses([judge_key([a], ABSENT), judge_key([b, delete], ABSENT)], 30 * _MS).shape is Shape.SUFFIX


def test_a_reverted_key_keeps_its_older_write() -> None:
    """put a1, put a2, found a1: a2 is lost and a1 survived, which is a suffix within one key."""
    first, second = put("a", 1), put("a", 10)
    assert losses([judge_key([first, second], seen(first))], 30 * _MS) == Losses(Shape.SUFFIX, 1, 19.0)


def test_a_torn_record_says_nothing_of_the_order() -> None:
    """It is damaged in its place."""
    assert losses([judge_key([put("a", 1)], Observation("torn"))], 30 * _MS).shape is Shape.NOTHING


def test_a_store_that_does_not_start_lost_everything() -> None:
    """Its own class, the gravest."""
    whole = unstartable(500, started=10 * _MS, struck=60 * _MS)
    assert whole == Losses(Shape.UNSTARTABLE, 500, 50.0)
    assert worst([Losses(Shape.HOLES, 9, 9.0), whole, Losses(Shape.SUFFIX, 9, 900.0)]) == whole


def test_among_equal_shapes_the_longest_window_is_the_worst() -> None:
    """And no loss at all is the answer to none."""
    assert worst([Losses(Shape.SUFFIX, 9, 1.0), Losses(Shape.SUFFIX, 2, 7.0)]).window_ms == 7.0
    assert worst([]).shape is Shape.NOTHING
