"""What a case is to the store under test: whether it has it, and claims what it tries; and the record of a case that is not begun."""

from __future__ import annotations

import pytest

from storeproof.outcome import Lack, Outcome
from storeproof.plugin.case import SuiteCase, case_of, sut_of
from storeproof.result.measured.case_records import Lacked
from storeproof.result.model import OutcomeRecord
from storeproof.spec.cases import OF_COMPOSITES
from storeproof.store_under_test import StoreUnderTest


def has_case(item: pytest.Item) -> bool:
    """Whether the store under test and the edition have the case."""
    sut, case = sut_of(item), case_of(item).id
    return (bool(sut.target.parts) or case not in OF_COMPOSITES) and case not in sut.spec.later_cases


def is_claimed(sut: StoreUnderTest, case: SuiteCase) -> bool:
    """Whether the variant claims what a case tries."""
    if case.capability:
        return sut.target.claims(case.id.removeprefix("capabilities."))
    if case.guarantee:
        return sut.target.configuration.promises(case.guarantee)
    return not case.model or case.model in sut.target.store.claims.models


def idle_case(item: pytest.Item, outcome: Outcome, detail: str) -> OutcomeRecord:
    """The record of one that is not begun, by its outcome, of which `not_run` says that the run ended before it, and the same in words."""
    case = case_of(item)
    return OutcomeRecord(
        id=case.id,
        revision=case.revision,
        stage=case.stage,
        outcome=outcome,
        detail=detail,
        seconds=0.0,
        standing=sut_of(item).spec.standing(case.id),
        lacked=Lacked(what=Lack.BEGUN) if outcome is Outcome.NOT_RUN else None,
    )
