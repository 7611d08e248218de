"""Each gate lets a good round pass, and stops the round it is there for."""

from __future__ import annotations

from array import array
from dataclasses import replace

import pytest

from storeproof.load.engine import OperationCounts, RunResult
from storeproof.load.quality.gates import BOTTLENECK, VALIDITY, OneOfSeveral, judge_joint, judge_rounds
from storeproof.stats.latency import new_histogram, record_all


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
    gates = judge_rounds([_round()] * 3, ceiling=1250.0)
    assert {name for name, gate in gates.items() if not gate.ok} == set()
    assert set(gates) == {"errors", "client_cpu", "client_ceiling", "littles_law"}
    assert gates["client_ceiling"].value == pytest.approx(0.8)


def test_a_good_open_loop_passes_all_gates() -> None:
    """It watches the clock while nothing is due: its processor time says nothing, and is not held against it."""
    gates = judge_rounds([_open_round()] * 3, ceiling=2000.0)
    assert {name for name, gate in gates.items() if not gate.ok} == set()
    assert set(gates) == {"errors", "client_ceiling", "littles_law", "schedule_lag", "missed_send_ratio"}


@pytest.mark.parametrize(
    ("gate", "bad"),
    [
        ("schedule_lag", replace(_open_round(), operations=_round().operations)),  # response times were not recorded
        ("missed_send_ratio", _open_round(missed_sends=110)),
        ("littles_law", replace(_open_round(), busy_seconds=0.011)),  # more in flight than ten clients have
        ("client_ceiling", replace(_open_round(), request_rate=1601.0)),
    ],
)
def test_bad_open_rounds_fail_their_gate(gate: str, bad: RunResult) -> None:
    """Only the gate that is meant fails; a number that fails one is either invalid, or a lower bound."""
    gates = judge_rounds([bad, bad, bad] if gate == "missed_send_ratio" else [_open_round(), bad, bad], ceiling=2000.0)
    assert {name for name, each in gates.items() if not each.ok} == {gate}


def test_a_lag_is_that_of_all_rounds_at_the_median_and_at_the_99th_percentile() -> None:
    """A round that is late is a fifth of the requests: the median of the lag stays what it was, and its 99th percentile does not."""
    late = _open_round(late_us=110)
    gate = judge_rounds([late, *[_open_round()] * 4])["schedule_lag"]
    assert gate.value == pytest.approx(0.11, rel=0.01)
    assert not gate.ok
    slow = _open_round(waited_us=3000)
    assert judge_rounds([replace(slow, schedule_lag=late.schedule_lag), *[_open_round()] * 4])["schedule_lag"].ok, (
        "the slow ones are the late ones"
    )
    assert judge_rounds([_open_round(late_us=60, waited_us=500)])["schedule_lag"].value == pytest.approx(0.12, rel=0.01)


def test_a_lag_is_held_against_the_response_and_a_gap_against_what_was_due() -> None:
    """99 µs of a millisecond, and 100 of 10 100."""
    gates = judge_rounds([_open_round(late_us=99, missed_sends=100)])
    assert gates["schedule_lag"].value == pytest.approx(0.099, rel=0.01)
    assert gates["missed_send_ratio"].value == pytest.approx(100 / 10_100)


def test_requests_in_flight_are_those_of_all_clients() -> None:
    """Four each, so that a request takes four times as long at the same rate."""
    long = replace(_round(), busy_seconds=0.039)
    assert judge_rounds([long], pipeline=4)["littles_law"].ok
    assert not judge_rounds([long])["littles_law"].ok


BAD = [
    ("errors", _round(errors=11)),
    ("client_cpu", replace(_round(), cpu_seconds=18.5)),
    ("client_cpu", replace(_round(), waiting_seconds=13.5)),  # it had something to do, and no processor
    ("littles_law", replace(_round(), busy_seconds=0.005)),  # latencies that leave out half of the waiting
    ("littles_law", replace(_round(), request_rate=900.0)),
    ("client_ceiling", replace(_round(), request_rate=1010.0)),
]


@pytest.mark.parametrize(("gate", "bad"), BAD)
def test_bad_rounds_fail_their_gate(gate: str, bad: RunResult) -> None:
    """Only the gate that is meant fails."""
    gates = judge_rounds([_round(), bad, bad], ceiling=1255.0)
    if gate in ("errors", "client_cpu"):  # shares of all that happened
        gates = judge_rounds([bad, bad, bad], ceiling=1255.0)
    assert {name for name, each in gates.items() if not each.ok} == {gate}
    assert gates[gate].value > gates[gate].limit


@pytest.mark.parametrize(("gate", "bad"), BAD)
def test_more_rounds_do_not_make_a_failure_likelier(gate: str, bad: RunResult) -> None:
    """One bad round of sixteen decides nothing: a gate that took the worst would fail the more often, the more rounds there are."""
    assert judge_rounds([bad, *[_round()] * 15], ceiling=1255.0)[gate].ok


def test_every_gate_has_a_consequence() -> None:
    """It makes the number invalid, or a lower bound, and not both."""
    closed, opened = judge_rounds([_round()] * 3, ceiling=1250.0), judge_rounds([_open_round()] * 3, ceiling=2000.0)
    joint = judge_joint([OneOfSeveral([_open_round()], [0], 1, 1000.0)], 1.0, cores=1)
    assert {*closed, *opened, *joint} == VALIDITY | BOTTLENECK
    assert not VALIDITY & BOTTLENECK


def test_no_requests_at_all() -> None:
    """Nothing is not without errors."""
    assert not judge_rounds([replace(_round(), operations={})] * 2)["errors"].ok
