"""What there was beside a block, and what a number says of all of its blocks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from storeproof.experiments.performance.measurement import Number
from storeproof.experiments.performance.surroundings import Surroundings, Watch
from storeproof.result.measurement import Disturbance, MachineSpeedRecord


def watched(*rates: float | None, shares: tuple[float, ...] = ()) -> Watch:
    """With these readings of the machine, and these shares of other programs."""
    readings = iter(rates)
    speed: Any = SimpleNamespace(read=lambda: next(readings), baseline=max(filter(None, rates), default=0.0)) if rates else None
    taken = iter(shares)
    others: Any = SimpleNamespace(share=lambda: next(taken)) if shares else None
    return Watch(others, speed)


def test_a_block_is_as_slow_as_the_slower_reading_of_before_and_after() -> None:
    """A reading stands between two blocks and belongs to both; what is not read is not known, and disturbs nothing."""
    watch = watched(200.0, 150.0, 190.0, 190.0)
    found = [watch.after_block() for _ in range(3)]
    assert [each.speed for each in found] == [150.0, 150.0, 190.0]
    assert [(each.slow, each.busy, each.others) for each in found] == [(True, False, None), (True, False, None), (False, False, None)]
    watch = watched(200.0, None, 150.0, 150.0)
    assert [watch.after_block().speed for _ in range(3)] == [None, None, 150.0]
    beside = watched(shares=(0.05, 0.06)).after_block()
    assert (beside.slow, beside.speed, beside.busy) == (False, None, False)


def number(kept: list[Surroundings], forgotten: list[Surroundings]) -> Number:
    """Of two laps, the first of which has one round."""
    laps: list[Any] = [
        SimpleNamespace(rounds=[0], beside=kept[:1], forgotten=forgotten),
        SimpleNamespace(rounds=[0] * (len(kept) - 1), beside=kept[1:], forgotten=[]),
    ]
    return Number(laps)


def test_a_number_counts_its_slow_and_its_busy_rounds() -> None:
    """By the baseline at its end, which is later than the round; a busy round is not counted as slow too."""
    kept = [Surroundings(0.0, 100.0, 100.0), Surroundings(0.4, 200.0, 200.0), Surroundings(0.02, 190.0, 200.0)]
    found = number(kept, [Surroundings(0.4, 100.0, 200.0), Surroundings(0.0, 150.0, 200.0), Surroundings(0.0, 160.0, 200.0)])
    assert found._machine_speed == MachineSpeedRecord(rate=190.0, baseline=200.0, slow=1, repeated=2)
    assert found._disturbance == Disturbance(share=0.02, busy=1, repeated=1)


@pytest.mark.parametrize("unknown", [Surroundings(), Surroundings(0.0), Surroundings(None, 100.0, 100.0)])
def test_what_was_not_seen_beside_the_rounds_is_not_told(unknown: Surroundings) -> None:
    """Other programs beside each; the machine's speed beside half of them, since a store's own work makes some readings void."""
    found = number([Surroundings(0.0, 100.0, 100.0), unknown, unknown], [])
    assert (found._machine_speed is None) == (unknown.speed is None)
    assert (found._disturbance is None) == (unknown.others is None)
