"""How a number is marked: grade, lower bound, drift, and ✘ only where it is not valid."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.report.speed import numbers
from storeproof.result.measurement import Disturbance, MachineSpeedRecord, Measurement
from storeproof.result.part import Gate
from tests.report.sample import DRIFTING
from tests.result.records import measured

OVER = Gate(ok=False, value=0.97, limit=0.9)
QUIET = Disturbance(share=0.01, busy=0, repeated=3)
FAST = MachineSpeedRecord(rate=198e3, baseline=200e3, slow=0, repeated=3)
LOST = Gate(ok=False, value=0.02, limit=0.001)


def _number(**changed: Any) -> Measurement:
    return measured().model_copy(update={"grade": "B", "gates": {"client_cpu": OVER, "errors": LOST}, **changed})


@pytest.mark.parametrize(
    ("changed", "sign", "mark", "tone", "reasons"),
    [
        ({}, "", "B", "grade-b", []),
        ({"grade": "D"}, "", "D", "grade-d", []),
        ({"at_least": True}, "≥ ", "B", "grade-b", ["≥ client_cpu 0.97 (limit 0.9)"]),
        ({"trend": DRIFTING}, "", "B drifting", "open", ["drifting -3.1 % a round (p = 0.002)"]),
        ({"disturbance": QUIET}, "", "B", "grade-b", []),
        (
            {"disturbance": QUIET.model_copy(update={"share": 0.43, "busy": 2})},
            "",
            "B",
            "grade-b",
            [f"other programs took 43 % of the machine, and disturbed 2 of {len(measured().rounds)} rounds"],
        ),
        ({"machine_speed": FAST}, "", "B", "grade-b", []),
        (
            {"machine_speed": FAST.model_copy(update={"rate": 156e3, "slow": 2})},
            "",
            "B",
            "grade-b",
            [f"the machine was slow beside 2 of {len(measured().rounds)} rounds: 78 % of its usual rate"],
        ),
        ({"invalid": ["errors"]}, "", "✘ errors", "bad", ["✘ errors 0.02 (limit 0.001)"]),
        ({"invalid": ["audit"], "verified": False}, "", "✘ audit", "bad", ["✘ the data was not whole after the rounds"]),
    ],
)
def test_a_number_is_marked_by_what_is_known_of_it(changed: dict[str, Any], sign: str, mark: str, tone: str, reasons: list[str]) -> None:
    """A gate that fails is no ✘ by itself: only what makes the number invalid is, and every mark has its reason."""
    one = _number(**changed)
    assert (numbers.at_least(one), numbers.mark(one), numbers.tone(one), numbers.reasons(one)) == (sign, mark, tone, reasons)


def test_a_case_tells_its_number_in_one_line() -> None:
    """The rate, its interval, its grade and the reasons."""
    rate = measured().throughput.model_copy(update={"median": 1000.0, "low": 920.0, "high": 1080.0})
    assert numbers.told(_number(throughput=rate)) == "1000 operations/s ±8 %, grade B"
    assert numbers.told(_number(throughput=rate, at_least=True)).startswith("≥ 1000 operations/s ±8 %, grade B; ≥ client_cpu")


def test_numbers_are_counted_by_grade_and_the_invalid_have_none() -> None:
    """One line ends the screen: grades, lower bounds, drift, and what broke how often."""
    every = [_number(), _number(grade="A", at_least=True), _number(grade="D"), _number(invalid=["errors", "audit"], at_least=True)]
    assert numbers.count(every[:3]) == "3 numbers: 1 A, 1 B, 1 D, of which 1 lower bound"
    assert numbers.count(every) == "4 numbers: 1 A, 1 B, 1 D, of which 1 lower bound; 1 invalid (errors 1, audit 1)"
    assert numbers.count([_number(trend=DRIFTING)]) == "1 number: 1 B, of which 1 drifting"
    busy = [_number(disturbance=Disturbance(share=0.4, busy=rounds, repeated=1)) for rounds in (0, 1, len(measured().rounds))]
    assert numbers.count(busy) == "3 numbers: 3 B, of which 1 on a busy machine"
    slow = [_number(machine_speed=FAST.model_copy(update={"slow": rounds})) for rounds in (0, 1, len(measured().rounds))]
    assert numbers.count(slow) == "3 numbers: 3 B, of which 1 on a slow machine"
    assert numbers.count(every[3:]) == "1 number: none valid; 1 invalid (errors 1, audit 1)"
