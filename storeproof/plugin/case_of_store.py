"""What a case is to the store under test: whether the store has it, and whether the variant claims what it tries."""

from __future__ import annotations

import pytest

from storeproof.plugin.case import Case, case_of, sut_of
from storeproof.spec.cases import OF_COMPOSITES
from storeproof.store_under_test import StoreUnderTest


def has_case(item: pytest.Item) -> bool:
    """Whether the store under test and the edition have the case."""
    sut, case = sut_of(item), case_of(item).id
    return (bool(sut.target.parts) or case not in OF_COMPOSITES) and case not in sut.spec.later_cases


def is_claimed(sut: StoreUnderTest, case: Case) -> bool:
    """Whether the variant claims what a case tries."""
    if case.capability:
        return sut.target.claims(case.id.removeprefix("capabilities."))
    if case.guarantee:
        return sut.target.configuration.promises(case.guarantee)
    return not case.model or case.model in sut.target.store.claims.models
