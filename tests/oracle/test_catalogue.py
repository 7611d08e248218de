"""The catalogue's answers, written by hand, against the oracle's: where they differ, one of them is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.contract.notation import answer_from, arguments_from
from storeproof.contract.values import MISSING
from storeproof.oracle import REFUSAL, UNDEFINED, State, same_answer, step
from storeproof.oracle.step import _STEPS
from storeproof.spec import Capability, CapabilityCase
from tests.shipped import SHIPPED

SPEC = SHIPPED
CASES = [
    pytest.param(capability, case, id=f"{name}/{case.id}") for name, capability in SPEC.capabilities.items() for case in capability.cases
]


@pytest.mark.parametrize(("capability", "case"), CASES)
def test_a_cases_answers_are_the_oracles(capability: Capability, case: CapabilityCase) -> None:
    """The answers that the specification states are those that the oracle computes."""
    model = SPEC.models[capability.model]
    state: State = {}
    for key, record in SPEC.datasets[capability.dataset].records.items() if capability.dataset else ():
        state = step(state, "put", arguments_from(model, "put", (key, record)))[1]
    for asked in case.steps:
        if asked.do not in _STEPS:
            return  # what the clock decides has no oracle, and leaves a state that is not known
        args = arguments_from(model, asked.do, asked.args)
        answer, state = step(state, asked.do, args)
        if answer is UNDEFINED:
            return
        if answer is REFUSAL:
            assert asked.refused, f"{asked.do}{asked.args}: the oracle wants a refusal"
            continue
        written: list[Any] = [MISSING] if asked.missing else []
        if asked.alternatives is not None:
            written = [answer_from(model, asked.do, each) for each in asked.alternatives.values()]
        elif "expect" in asked.model_fields_set:
            written = [answer_from(model, asked.do, asked.expect)]
        assert written or not asked.refused, f"{asked.do}{asked.args}: the oracle answers {answer!r}"
        assert not written or any(same_answer(asked.do, args, answer, each) for each in written), (
            f"{asked.do}{asked.args}: the oracle answers {answer!r}"
        )
