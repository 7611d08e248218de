"""Reproducibility: how many numbers of a plan agree when it is run again."""

from __future__ import annotations

from typing import Any

from storeproof.result.compare import Side
from storeproof.result.measurement import Measurement
from storeproof.result.ratios.agreement import Agreement, agreement
from tests.report.sample import DRIFTING, TARGETS, sample_environment, sample_result
from tests.result.records import measured
from tests.result.test_compare import rounds


def _number(level: float, **changed: Any) -> Measurement:
    """Near a rate, with rounds that are 4 % apart."""
    rates = [level * factor for factor in (0.96, 0.98, 1, 1, 1.02, 1.04)]
    data = measured().model_dump() | {"rounds": rounds(*rates), "throughput": {**measured().throughput.model_dump(), "median": level}}
    return Measurement.model_validate(data | {"kind": "value-read", **changed})


def _side(*numbers: Measurement, **changed: Any) -> Side:
    result = sample_result(TARGETS[:1])
    store = result.stores[0].model_copy(update={"measurements": list(numbers), "durability": result.stores[0].durability})
    return Side(result.model_copy(update={"stores": [store], **changed}), store)


def _found(left: list[Measurement], right: list[Measurement]) -> Agreement:
    return agreement([(_side(*left), _side(*right))])


def test_numbers_agree_within_the_noise_floor_of_their_kind() -> None:
    """Two per cent apart is chance where the rounds of one number are four apart; thirty is not, and is listed."""
    left = [_number(1000), _number(1000, clients=1), _number(1000, kind="scan", workload="scan")]
    right = [_number(1020), _number(700, clients=1), _number(1000, kind="scan", workload="scan")]
    found = _found(left, right)
    assert [(each.kind, len(each.numbers), each.agreeing) for each in found.kinds] == [("scan", 1, 1), ("value-read", 2, 1)]
    (apart,) = [each for each in found.numbers if not each.agrees]
    assert (apart.store, apart.a.clients, round(apart.factor, 2)) == ("sqlite:wal-full", 1, 1.43)


def test_what_has_no_rate_or_no_partner_is_counted_and_not_compared() -> None:
    """Neither for nor against."""
    bad, drifting = _number(1000, clients=2, invalid=["errors"]), _number(1000, clients=3, trend=DRIFTING.model_dump())
    left = [_number(1000), bad, drifting, _number(1000, clients=4)]
    found = _found(left, [_number(1000), _number(1000, clients=2), _number(1000, clients=3)])
    assert (len(found.numbers), found.not_valid, found.drifting, found.alone) == (1, 1, 1, 1)


def test_another_machine_scale_or_edition_is_refused() -> None:
    """It is not the same plan, or not on the same machine; what was proven does not matter."""
    one = _side(_number(1000))
    other = _side(_number(1000), environment=sample_environment(cpu="Other CPU"))
    found = agreement([(one, other)])
    assert found.refused == ("machine: cpu differs: Sample CPU 3000 against Other CPU",)
    assert found.numbers == ()
    run = one.result.run.model_copy(update={"scale": "full"})
    assert agreement([(one, _side(_number(1000), run=run))]).refused == ("scale differs: standard against full",)
    unproven = one.store.model_copy(update={"durability": one.store.durability.model_copy(update={"proven": None})})
    assert agreement([(one, Side(one.result, unproven))]).refused == ()


def test_a_machine_that_is_slower_in_one_run_is_in_no_ratio() -> None:
    """Both stores lose a third of their rate: no number agrees, and their ratio does. If one store alone loses it, the ratio does not."""
    left, slower = _side(_number(1000)), _side(_number(667))
    slower_too = agreement([(left, slower), (left, slower)])
    assert [each.agrees for each in slower_too.numbers] == [False, False]
    assert [(each.factor, each.agrees) for each in slower_too.ratios] == [(1.0, True)]
    one_alone = agreement([(left, slower), (left, left)])
    assert [each.agrees for each in one_alone.ratios] == [False]
    assert _found([_number(1000)], [_number(1000)]).ratios == ()
