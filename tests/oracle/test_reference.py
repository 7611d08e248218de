"""The oracle of feeds and stored searches: what it tells, and that the catalogue's answers are its own."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.contract.feeds import Change
from storeproof.contract.notation import answer_from, arguments_from
from storeproof.oracle import same_answer
from storeproof.spec import Capability, CapabilityCase
from tests.oracle.reference import Reference
from tests.shipped import SHIPPED

SPEC = SHIPPED
OWN = {"follow", "changes", "leave_feed", "resume_feed", "save_search", "searches_for"}
CASES = [
    pytest.param(capability, case, id=f"{name}/{case.id}")
    for name, capability in SPEC.capabilities.items()
    if OWN & set(capability.operations)
    for case in capability.cases
]


@pytest.mark.parametrize(("capability", "case"), CASES)
def test_a_cases_answers_are_the_oracles(capability: Capability, case: CapabilityCase) -> None:
    """The answers that the specification states are those that the oracle computes."""
    model = SPEC.models[capability.model]
    reference = Reference()
    for asked in case.steps:
        args = arguments_from(model, asked.do, asked.args)
        answer = reference.do(asked.do, args)
        if "expect" in asked.model_fields_set:
            wanted: Any = answer_from(model, asked.do, asked.expect)
            assert same_answer(asked.do, args, answer, wanted), f"{asked.do}{asked.args}: the oracle answers {answer!r}"


def test_a_feed_tells_each_change_once_in_order_and_nothing_of_before() -> None:
    """The reference feed begins where it was opened, with each change once and in order."""
    reference = Reference({"old": b"0"})
    reference.do("put", ("before", b"1"))
    reference.do("follow", (True,))
    reference.do("put", ("a", b"1"))
    reference.do("put", ("a", b"1"))
    reference.do("delete", ("old",))
    reference.do("delete", ("absent",))
    assert reference.do("changes", (2, 0.0)) == [Change("put", "a", b"1"), Change("put", "a", b"1")]
    reference.do("leave_feed", ())
    reference.do("append", ("a", b"2"))
    reference.do("resume_feed", ())
    assert reference.do("changes", (9, 0.0)) == [Change("delete", "old"), Change("put", "a", b"12")]
    assert reference.do("changes", (9, 0.0)) == []


def test_without_records_a_feed_tells_none() -> None:
    """A feed that was asked for keys alone has no records."""
    reference = Reference()
    reference.do("follow", (False,))
    reference.do("put", ("a", b"1"))
    assert reference.do("changes", (1, 0.0)) == [Change("put", "a")]
