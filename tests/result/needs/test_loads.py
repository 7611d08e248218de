"""A rate is met by the low end of its interval, a response time by an open loop alone."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.result.measurement import Measurement
from storeproof.result.needs.judged_need import JudgedNeed, Verdict
from storeproof.result.needs.loads import same_load
from storeproof.spec.questions.needs import Load
from tests.result.claimed import around, number
from tests.result.needs.needed import decided, judgement, known, needs
from tests.shipped import SHIPPED

GET: dict[str, Any] = {"mix": [{"operation": "get"}]}


def rate(need: int, *numbers: Measurement, **load: Any) -> JudgedNeed:
    return judgement(decided(needs(load={**GET, "rate": need, **load}), known("redis:volatile", *numbers)), "rate")


def opened(offered: float, p99_us: float | None, **changed: Any) -> Measurement:
    """An open loop of gets and puts."""
    found = number("single-mixed-rates", *around(offered), load_model="open", rate=offered, **changed)
    return found.model_copy(update={"latency_us": found.latency_us.model_copy(update={"p99": p99_us})})


def p99(limit: float, need: int, *numbers: Measurement) -> JudgedNeed:
    mix = [{"operation": "get"}, {"operation": "put"}]
    role = needs(load={"mix": mix, "rate": need, "p99_ms": limit})
    return judgement(decided(role, known("redis:volatile", *numbers)), "p99")


def test_the_low_end_must_reach_the_rate() -> None:
    """A whole interval below it refutes it, and one across it decides nothing."""
    assert rate(990, number("single-get", *around(1000))).verdict is Verdict.MET
    assert rate(1011, number("single-get", *around(1000))).verdict is Verdict.NOT_MET
    assert rate(1000, number("single-get", *around(1000))).verdict is Verdict.NOT_SHOWN
    assert rate(500, number("single-get", *around(1000))).headroom == pytest.approx(1.98)


def test_a_lower_bound_meets_and_never_refutes() -> None:
    """The store may be faster than its number."""
    limited = number("single-get", *around(1000), at_least=True)
    assert rate(1000, limited).verdict is Verdict.MET
    assert rate(1001, limited).verdict is Verdict.NOT_SHOWN


@pytest.mark.parametrize(
    "changed",
    [
        {"invalid": ["littles_law"]},
        {"trend": {"change": 0.02, "probability": 0.001, "drifting": True}},
        {"indexes": 1},
        {"pipeline": 4},
        {"load_model": "open", "rate": 1000.0},
    ],
)
def test_a_number_of_another_thing_does_not_count(changed: dict[str, Any]) -> None:
    """Nor one that is not valid, or drifts."""
    assert rate(10, number("single-get", *around(1000), **changed)).verdict is Verdict.NOT_SHOWN


def test_more_clients_than_there_are_do_not_count() -> None:
    """Without a number of clients, any counts, and the fastest decides."""
    few, many = number("single-get", *around(1000), clients=50), number("single-get", *around(9000), clients=500)
    assert rate(2000, few, many, clients=100).verdict is Verdict.NOT_MET
    assert rate(2000, few, many).verdict is Verdict.MET


def test_the_slowest_records_decide_unless_some_are_named() -> None:
    """Values of 100 kB are slower than those of 32 bytes."""
    small = number("single-get-sizes", *around(9000), record="size-32")
    large = number("single-get-sizes", *around(1000), record="size-100000")
    assert rate(2000, small, large).verdict is Verdict.NOT_MET
    assert rate(2000, small, large, record="size-32").verdict is Verdict.MET


def test_a_mix_is_its_operations_and_their_shares() -> None:
    """To within five per cent; the order does not matter."""
    a = SHIPPED.workloads["ycsb-b"]

    def like(**weights: int) -> bool:
        load = Load.model_validate({"mix": [{"operation": name, "weight": weight} for name, weight in weights.items()], "rate": 1})
        return same_load(load, "usertable", a)

    assert like(get=95, set_field=5)
    assert like(set_field=1, get=10)
    assert not like(get=1, set_field=1)
    assert not like(get=1)
    assert not like(get=95, put=5)


def test_only_an_open_loop_shows_a_response_time() -> None:
    """A closed loop slows down with the store."""
    assert p99(5, 1000, opened(1000, 4000)).verdict is Verdict.MET
    assert p99(5, 1000, opened(1000, 6000)).verdict is Verdict.NOT_MET
    assert p99(5, 1000, number("single-mixed-sizes", *around(9000))).verdict is Verdict.NOT_SHOWN


def test_a_response_time_at_another_rate_counts_where_it_decides() -> None:
    """Met at a higher rate is met, missed at a lower one is missed; the others say nothing."""
    assert p99(5, 1000, opened(2000, 4000)).verdict is Verdict.MET
    assert p99(5, 1000, opened(500, 6000)).verdict is Verdict.NOT_MET
    assert p99(5, 1000, opened(500, 4000)).verdict is Verdict.NOT_SHOWN
    assert p99(5, 1000, opened(2000, 6000)).verdict is Verdict.NOT_SHOWN
    assert p99(5, 1000, opened(2000, None)).verdict is Verdict.NOT_SHOWN
    assert p99(5, 1000, opened(1000, 4000), opened(4000, 4500)).headroom == pytest.approx(4)


def test_what_is_not_measured_has_a_command_or_the_reason_why_there_is_none() -> None:
    """A mix of no workload cannot be measured yet."""
    assert "test_workload and" in rate(1).command
    unknown = judgement(decided(needs(load={"mix": [{"operation": "persist"}], "rate": 1}), known("redis:volatile")), "rate")
    assert unknown.command == ""
    assert unknown.reason.startswith("no workload of this mix is specified for single_key")
