"""What indexes cost: each workload with indexes against the same without, on the same store."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.result.compare import IndexCost, index_costs
from storeproof.result.measurement import Measurement, RoundNumbers
from tests.report.sample import DRIFTING, TARGETS, sample_result
from tests.result.records import measured

RESULT = sample_result(TARGETS[:1])


def _number(indexes: int, *rates: float, **changed: Any) -> Measurement:
    rounds = [RoundNumbers(seconds=1, operations=1, throughput=each, errors=0, misses=0) for each in rates]
    return measured().model_copy(update={"indexes": indexes, "rounds": rounds, **changed})


def _costs(*numbers: Measurement) -> list[IndexCost]:
    return index_costs(RESULT.model_copy(update={"stores": [RESULT.stores[0].model_copy(update={"measurements": list(numbers)})]}))


def test_the_ratio_is_taken_within_each_block() -> None:
    """In a block in which the machine was at half its speed, it was so for both."""
    one, five = _costs(_number(0, 1000, 500, 1010), _number(1, 801, 399, 812), _number(5, 500, 251, 504))
    assert (one.pair.a.indexes, five.pair.a.indexes) == (1, 5)
    for cost, share in ((one, 0.8), (five, 0.5)):
        assert cost.pair.paired
        assert cost.pair.ratio is not None
        assert cost.pair.ratio.middle == pytest.approx(share, rel=0.01)
        assert cost.pair.ratio.high < 1


def test_a_result_of_an_older_format_is_not_paired() -> None:
    """Until format 2.1, which was the first with a mean latency, rounds of other numbers of indexes came at another time."""
    latency = measured().latency_us.model_copy(update={"mean": None})
    old = [each.model_copy(update={"latency_us": latency}) for each in (_number(0, 1000, 500, 1010), _number(1, 800, 400, 808))]
    (cost,) = _costs(*old)
    assert not cost.pair.paired
    assert cost.pair.ratio is not None
    assert not cost.pair.ratio.shows_difference


def test_only_what_differs_in_indexes_alone_is_set_against_each_other() -> None:
    """Another number of clients, or no number without indexes, has no cost."""
    assert _costs(_number(0, 1, 2), _number(1, 1, 2, clients=4)) == []
    assert _costs(_number(1, 1, 2), _number(5, 1, 2)) == []


def test_a_side_without_a_rate_has_no_ratio() -> None:
    """The reason names the side."""
    (drifting,) = _costs(_number(0, 1, 2, trend=DRIFTING), _number(1, 1, 2))
    assert drifting.pair.refused == ("without: drifting by -3.1 % a round, there is no one rate",)
    (invalid,) = _costs(_number(0, 1, 2), _number(5, 1, 2, invalid=["errors"]))
    assert invalid.pair.refused == ("with 5: not valid: errors",)
