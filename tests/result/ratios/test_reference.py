"""Each number against one store: the fastest that it may be compared with, or one that is named."""

from __future__ import annotations

from typing import Any

from storeproof.result.measurement import Measurement, RoundNumbers
from storeproof.result.model import Result, StoreResult
from storeproof.result.ratios.reference import ToReference, to_reference
from tests.report.sample import DRIFTING, TARGETS, sample_result
from tests.result.records import measured

RESULT = sample_result(TARGETS[:3])


def _number(level: float, **changed: Any) -> Measurement:
    rounds = [RoundNumbers(seconds=1, operations=1, throughput=level * factor, errors=0, misses=0) for factor in (0.99, 1, 1.01)]
    rate = measured().throughput.model_copy(update={"median": level})
    return measured().model_copy(update={"rounds": rounds, "throughput": rate, **changed})


def _stores(*proven: str) -> list[StoreResult]:
    return [
        store.model_copy(update={"durability": store.durability.model_copy(update={"proven": rung})})
        for store, rung in zip(RESULT.stores, proven, strict=True)
    ]


def _found(stores: list[StoreResult], *numbers: Measurement, named: str = "") -> list[ToReference]:
    pairs = [(store, number) for store, number in zip(stores, numbers, strict=True)]
    result: Result = RESULT.model_copy(update={"stores": stores})
    return to_reference(result, pairs, named)


def test_the_fastest_is_the_reference() -> None:
    """It is 1; the others are shares of it."""
    slow, fast, other = _found(_stores("volatile", "volatile", "volatile"), _number(500), _number(1000), _number(800))
    assert fast.itself
    assert {each.reference for each in (slow, fast, other)} == {"redis:aof-always"}
    shares = [each.pair.ratio.middle for each in (slow, other) if each.pair and each.pair.ratio]
    assert [round(share, 2) for share in shares] == [0.5, 0.8]


def test_unlike_durability_has_a_reference_of_its_own() -> None:
    """A synced write is not set against one that is not; alone there is nothing to set it against."""
    one, other, alone = _found(_stores("power_loss", "power_loss", "volatile"), _number(500), _number(400), _number(9000))
    assert one.itself
    assert other.reference == "sqlite:wal-full"
    assert alone == ToReference("", None)


def test_what_is_invalid_or_drifts_is_no_reference() -> None:
    """However fast it seems; and it has no ratio itself."""
    for spoiled, reason in (({"invalid": ["errors"]}, "not valid: errors"), ({"trend": DRIFTING}, "drifting by -3.1 % a round")):
        fast, sound, _ = _found(_stores(*["volatile"] * 3), _number(9000, **spoiled), _number(1000), _number(800))
        assert sound.itself
        assert fast.pair is not None
        assert fast.pair.ratio is None
        assert any(f"sqlite:wal-full: {reason}" in each for each in fast.pair.refused)


def test_a_named_store_is_the_reference_of_all() -> None:
    """Also of those that it may not be compared with, which then have the reason."""
    stores = _stores("power_loss", "power_loss", "volatile")
    named, other, unlike = _found(stores, _number(500), _number(1000), _number(9000, engine="wire"), named="sqlite:wal-full")
    assert named.itself
    assert other.pair is not None
    assert other.pair.ratio is not None
    assert other.pair.ratio.middle > 1.9
    assert unlike.pair is not None
    assert unlike.pair.refused[:2] == (
        "proven durability differs: volatile against power_loss",
        "load engine differs: wire against driver",
    )
