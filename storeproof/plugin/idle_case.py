"""The outcome of a case that is not begun."""

from __future__ import annotations

import pytest

from storeproof.outcome import Outcome
from storeproof.plugin.case import case_of, sut_of
from storeproof.result.model import OutcomeRecord


def idle_case(item: pytest.Item, outcome: Outcome, detail: str) -> OutcomeRecord:
    """Its record. `outcome`: why it is not begun; `detail`: the same in words."""
    case = case_of(item)
    return OutcomeRecord(
        id=case.id,
        revision=case.revision,
        stage=case.stage,
        outcome=outcome,
        detail=detail,
        seconds=0.0,
        standing=sut_of(item).spec.standing(case.id),
    )
