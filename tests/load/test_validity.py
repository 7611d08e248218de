"""Each gate lets a good round pass, and stops the round it is there for."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest

from storeproof.load.engine import OperationResult, RunResult
from storeproof.load.latency import new_histogram, record_all
from storeproof.load.statistics import Estimate
from storeproof.load.steady import WarmUp
from storeproof.load.validity import judge

STEADY = WarmUp((100.0,) * 4, 0.4)
CLOSE = Estimate(100, 98, 102)


def _round(*, requests: int = 10_000, errors: int = 0) -> RunResult:
    """Ten clients at 1 000 requests a second in all: 9 ms a request and 1 ms of pause."""
    latency = new_histogram()
    record_all(latency, array("q", [9_000_000] * requests))
    return RunResult(
        operations={"get": OperationResult("get", requests, 0, errors, 0, latency)},
        throughput=1000,
        request_rate=1000,
        clients=10,
        busy_seconds=0.009,
        pause_seconds=0.001,
        cpu_seconds=5,
        elapsed_seconds=10,
        cores=2,
        positions=(0,) * 10,
        doubtful=(),
        samples=(),
    )


def test_a_good_measurement_passes_all_gates() -> None:
    """None is failing."""
    gates = judge([_round()] * 3, STEADY, CLOSE)
    assert {name for name, gate in gates.items() if not gate.ok} == set()
    assert set(gates) == {"errors", "client_cpu", "little", "steady", "spread"}


@pytest.mark.parametrize(
    ("gate", "bad"),
    [
        ("errors", _round(errors=11)),
        ("client_cpu", replace(_round(), cpu_seconds=18.5)),
        ("little", replace(_round(), busy_seconds=0.005)),  # latencies that leave out half of the waiting
        ("little", replace(_round(), request_rate=1100.0)),
    ],
)
def test_the_worst_round_decides(gate: str, bad: RunResult) -> None:
    """Only the gate that is meant fails."""
    gates = judge([_round(), bad, _round()], STEADY, CLOSE)
    assert {name for name, each in gates.items() if not each.ok} == {gate}
    assert gates[gate].value > gates[gate].limit


def test_unsteady_and_scattered() -> None:
    """Both are told with their value."""
    gates = judge([_round()] * 3, WarmUp((100, 150, 100, 150), 2.0), Estimate(100, 80, 130))
    assert {name for name, each in gates.items() if not each.ok} == {"steady", "spread"}
    assert gates["spread"].value == pytest.approx(0.25)


def test_one_round_is_no_measurement() -> None:
    """Its spread is not known, so the gate cannot pass."""
    assert not judge([_round()], STEADY, Estimate(100, 100, 100))["spread"].ok


def test_no_requests_at_all() -> None:
    """Nothing is not without errors."""
    assert not judge([replace(_round(), operations={})] * 2, STEADY, CLOSE)["errors"].ok
