"""Each gate lets a good round pass, and stops the round it is there for."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest

from storeproof.load.job import OperationCounts, RunResult
from storeproof.load.quality.gates import judge
from storeproof.stats.intervals import Estimate
from storeproof.stats.latency import new_histogram, record_all
from storeproof.stats.steady_state import WarmUp

STEADY = WarmUp((100.0,) * 4, 0.4)
CLOSE = Estimate(100, 98, 102)


def _round(*, requests: int = 10_000, errors: int = 0) -> RunResult:
    """Ten clients at 1 000 requests a second in all: 9 ms a request and 1 ms of pause."""
    latency = new_histogram()
    record_all(latency, array("q", [9_000_000] * requests))
    return RunResult(
        operations={"get": OperationCounts("get", requests, 0, errors, 0, latency)},
        throughput=1000,
        request_rate=1000,
        clients=10,
        busy_seconds=0.009,
        pause_seconds=0.001,
        cpu_seconds=5,
        elapsed_seconds=10,
        cores=2,
        positions=(0,) * 10,
        indeterminate=(),
        samples=(),
    )


def _open_round(*, late_us: int = 50, waited_us: int = 1000, missed_sends: int = 0) -> RunResult:
    """The same in an open loop: 1 000 requests a second, each answered 1 ms after it was due, and sent by some microseconds late."""
    lag, response = new_histogram(), new_histogram()
    record_all(lag, array("q", [late_us * 1000] * 10_000))
    record_all(response, array("q", [waited_us * 1000] * 10_000))
    get = replace(_round().operations["get"], response=response)
    return replace(
        _round(),
        operations={"get": get},
        busy_seconds=0.001,
        pause_seconds=0,
        schedule_lag=lag,
        missed_sends=missed_sends,
        cpu_seconds=19.9,
    )


def test_a_good_measurement_passes_all_gates() -> None:
    """None is failing."""
    gates = judge([_round()] * 3, STEADY, CLOSE, ceiling=1250.0)
    assert {name for name, gate in gates.items() if not gate.ok} == set()
    assert set(gates) == {"errors", "client_cpu", "client_ceiling", "littles_law", "steady_state", "spread"}
    assert gates["client_ceiling"].value == pytest.approx(0.8)


def test_a_good_open_loop_passes_all_gates() -> None:
    """It watches the clock while nothing is due: its processor time says nothing, and is not held against it."""
    gates = judge([_open_round()] * 3, STEADY, CLOSE, ceiling=2000.0)
    assert {name for name, gate in gates.items() if not gate.ok} == set()
    assert set(gates) == {"errors", "client_ceiling", "littles_law", "steady_state", "spread", "schedule_lag", "missed_send_ratio"}


@pytest.mark.parametrize(
    ("gate", "bad"),
    [
        ("schedule_lag", replace(_open_round(), operations=_round().operations)),  # response times were not recorded
        ("missed_send_ratio", _open_round(missed_sends=110)),
        ("littles_law", replace(_open_round(), busy_seconds=0.011)),  # more in flight than ten clients have
        ("client_ceiling", replace(_open_round(), request_rate=1601.0)),
    ],
)
def test_the_worst_open_round_decides(gate: str, bad: RunResult) -> None:
    """Only the gate that is meant fails."""
    gates = judge([_open_round(), bad, _open_round()], STEADY, CLOSE, ceiling=2000.0)
    assert {name for name, each in gates.items() if not each.ok} == {gate}


def test_a_lag_is_that_of_all_rounds_at_the_median_and_at_the_99th_percentile() -> None:
    """A round that is late is a fifth of the requests: the median of the lag stays what it was, and its 99th percentile does not."""
    late = _open_round(late_us=110)
    gate = judge([late, *[_open_round()] * 4], STEADY, CLOSE)["schedule_lag"]
    assert gate.value == pytest.approx(0.11, rel=0.01)
    assert not gate.ok
    slow = _open_round(waited_us=3000)
    assert judge([replace(slow, schedule_lag=late.schedule_lag), *[_open_round()] * 4], STEADY, CLOSE)["schedule_lag"].ok, (
        "the slow ones are the late ones"
    )
    assert judge([_open_round(late_us=60, waited_us=500)], STEADY, CLOSE)["schedule_lag"].value == pytest.approx(0.12, rel=0.01)


def test_a_lag_is_held_against_the_response_and_a_gap_against_what_was_due() -> None:
    """99 µs of a millisecond, and 100 of 10 100."""
    gates = judge([_open_round(late_us=99, missed_sends=100)], STEADY, CLOSE)
    assert gates["schedule_lag"].value == pytest.approx(0.099, rel=0.01)
    assert gates["missed_send_ratio"].value == pytest.approx(100 / 10_100)


def test_requests_in_flight_are_those_of_all_clients() -> None:
    """Four each, so that a request takes four times as long at the same rate."""
    long = replace(_round(), busy_seconds=0.039)
    assert judge([long], STEADY, CLOSE, pipeline=4)["littles_law"].ok
    assert not judge([long], STEADY, CLOSE)["littles_law"].ok


@pytest.mark.parametrize(
    ("gate", "bad"),
    [
        ("errors", _round(errors=11)),
        ("client_cpu", replace(_round(), cpu_seconds=18.5)),
        ("littles_law", replace(_round(), busy_seconds=0.005)),  # latencies that leave out half of the waiting
        ("littles_law", replace(_round(), request_rate=900.0)),
        ("client_ceiling", replace(_round(), request_rate=1010.0)),
    ],
)
def test_the_worst_round_decides(gate: str, bad: RunResult) -> None:
    """Only the gate that is meant fails."""
    gates = judge([_round(), bad, _round()], STEADY, CLOSE, ceiling=1255.0)
    assert {name for name, each in gates.items() if not each.ok} == {gate}
    assert gates[gate].value > gates[gate].limit


def test_unsteady_and_scattered() -> None:
    """Both are told with their value."""
    gates = judge([_round()] * 3, WarmUp((100, 150, 100, 150), 2.0), Estimate(100, 80, 130))
    assert {name for name, each in gates.items() if not each.ok} == {"steady_state", "spread"}
    assert gates["spread"].value == pytest.approx(0.25)


def test_one_round_is_no_measurement() -> None:
    """Its spread is not known, so the gate cannot pass."""
    assert not judge([_round()], STEADY, Estimate(100, 100, 100))["spread"].ok


def test_no_requests_at_all() -> None:
    """Nothing is not without errors."""
    assert not judge([replace(_round(), operations={})] * 2, STEADY, CLOSE)["errors"].ok
