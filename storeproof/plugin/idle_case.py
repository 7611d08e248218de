"""The outcome of a case that is not begun."""

from __future__ import annotations

import pytest

from storeproof.outcome import Lack, Outcome
from storeproof.plugin.case import case_of, sut_of
from storeproof.result.measured.lacked import Lacked
from storeproof.result.model import OutcomeRecord


def idle_case(item: pytest.Item, outcome: Outcome, detail: str) -> OutcomeRecord:
    """Its record. `outcome`: why it is not begun, of `not_run` that the run ended before it; `detail`: the same in words."""
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
