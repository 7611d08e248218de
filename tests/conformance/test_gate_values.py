"""The values of the gates, computed again: of a published number each change is found, by what it contradicts."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.conformance.gate_values import wrong_gates
from storeproof.result.measurement import Measurement
from tests.conformance.published import published


def number(workload: str) -> Measurement:
    """A number of the published claim."""
    return next(each for each in published().stores[0].measurements if each.workload == workload)


def gated(found: Measurement, name: str, value: float) -> dict[str, Any]:
    """The gates of a number, one of them with another value."""
    return {"gates": {**found.gates, name: found.gates[name].model_copy(update={"value": value})}}


OPEN, ALONE = number("single-mixed-rates"), number("row-get")


def test_published_numbers_follow_from_their_rounds() -> None:
    """All of them."""
    found = published()
    assert not [wrong for each in found.stores[0].measurements for wrong in wrong_gates(each, found.environment.loopback_us)]


@pytest.mark.parametrize(
    ("found", "changed", "says"),
    [
        (OPEN, gated(OPEN, "missed_send_ratio", 0.25), "the gate missed_send_ratio has 0.25"),
        (OPEN, {"missed_sends": 50}, "and 50 of "),
        (OPEN, {"rate": 20.0}, "were due at its rate"),
        (OPEN, {"service_us": OPEN.latency_us.model_copy(update={"mean": 1e6})}, "requests in flight, and it had room for 4"),
        (ALONE, {"latency_us": ALONE.latency_us.model_copy(update={"mean": 1e6})}, "and it had room for 1 (Little's law)"),
        (ALONE, {"ceiling": 1.0}, "of the ceiling"),
        (ALONE, {"latency_us": ALONE.latency_us.model_copy(update={"p50": 0.5})}, "half of its requests took 0.5 us or less"),
    ],
)
def test_what_does_not_follow_is_found(found: Measurement, changed: dict[str, Any], says: str) -> None:
    """With what it has, and what is shown."""
    wrong = list(wrong_gates(found.model_copy(update=changed), 10.0))
    assert any(says in each for each in wrong), wrong


def test_the_lag_is_that_of_the_latencies() -> None:
    """Percentile by percentile, where both are known."""
    latency = OPEN.latency_us.model_copy(update={"p50": 100.0, "p99": 1000.0})
    lag = latency.model_copy(update={"p50": 1.0, "p99": 300.0})
    measured = OPEN.model_copy(update={"latency_us": latency, "schedule_lag_us": lag, **gated(OPEN, "schedule_lag", 0.3)})
    assert not list(wrong_gates(measured, None))
    assert "the gate schedule_lag has 0.05, and by its latencies 0.3" in list(
        wrong_gates(measured.model_copy(update=gated(OPEN, "schedule_lag", 0.05)), None)
    )
