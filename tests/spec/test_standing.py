"""Which cases decide: all but those that say that they are provisional."""

from __future__ import annotations

from dataclasses import replace

import pytest

from storeproof.spec import Capability
from storeproof.spec.standing import Standing
from tests.shipped import SHIPPED

PREFIX = SHIPPED.capabilities["filter.prefix"]


def with_provisional(*numbers: str) -> Capability:
    """`filter.prefix` with these cases provisional."""
    cases = tuple(case.model_copy(update={"provisional": case.id in numbers}) for case in PREFIX.cases)
    return PREFIX.model_copy(update={"cases": cases})


@pytest.mark.parametrize(
    ("case", "stands"),
    [
        ("capabilities.filter.prefix/001", None),
        ("capabilities.filter.prefix/002", Standing.PROVISIONAL),
        ("capabilities.filter.prefix/pushdown", None),
        ("capabilities.filter.in/002", None),
        ("durability.power_loss", None),
        ("filter.prefix/002", None),  # no id of a case
    ],
)
def test_a_case_stands_for_itself(case: str, stands: Standing | None) -> None:
    """The others of its capability decide as before."""
    spec = replace(SHIPPED, capabilities=SHIPPED.capabilities | {"filter.prefix": with_provisional("002")})
    assert spec.standing(case) is stands
    assert spec.decides(case) is (stands is None)


def test_what_the_suites_add_stands_as_the_capability() -> None:
    """The pushdown case asks what the cases ask, and asks no provisional case's question unless all are provisional."""
    every = with_provisional(*(case.id for case in PREFIX.cases))
    spec = replace(SHIPPED, capabilities={"filter.prefix": every})
    assert spec.standing("capabilities.filter.prefix/pushdown") is Standing.PROVISIONAL
    assert every.questions == PREFIX.questions
    first = with_provisional(PREFIX.cases[0].id)
    assert first.questions == tuple(step for case in PREFIX.cases[1:] for step in case.steps)
