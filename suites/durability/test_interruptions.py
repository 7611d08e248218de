"""One server of a composite store does not answer for a while, or the link to it is cut. Clients give up, and try again.

What they gave up may be carried out later. No acknowledged write may be missing in the home, whatever the variant claims, since no server
ends; and no read may return what was replaced, unless the variant says that reads may be stale.
"""

from __future__ import annotations

import pytest

from storeproof.experiments.run_interruption import run_interruption
from storeproof.faults.interruption import Way
from storeproof.result.case_result import CaseResult
from storeproof.spec.store import FRONT, HOME, Role
from storeproof.store_under_test import StoreUnderTest

_CASES: tuple[tuple[str, Role, Way], ...] = (
    ("durability.front_pause", FRONT, "pause"),
    ("durability.front_link/reset", FRONT, "reset"),
    ("durability.front_link/hang", FRONT, "hang"),
    ("durability.home_link/reset", HOME, "reset"),
    ("durability.home_link/hang", HOME, "hang"),
)


@pytest.mark.parametrize(
    ("case", "role", "way"),
    [pytest.param(case, role, way, id=f"{role}-{way}", marks=pytest.mark.case(id=case)) for case, role, way in _CASES],
)
def test_interruption(sut: StoreUnderTest, case_result: CaseResult, case: str, role: Role, way: Way) -> None:
    """Clients read and write many keys; what they gave up is delivered after each key was written again, and then each is read."""
    summary = run_interruption(sut, role, way, case)
    again = f"seed {sut.seed}; reproduce: {sut.command(f'test_interruption and {role}-{way}')}"
    summary.report(case_result, claimed=True, again=again)
