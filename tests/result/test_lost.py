"""The share that a fault cost: operations of operations, or a lower bound where a result has no count of them."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.outcome import Outcome
from storeproof.result.measured.lost import lost_by
from tests.report.clusters import ISOLATED
from tests.site.made import fault

ONE = "fault 1, burst: 49 lost, 3 miscounted of counter, row; 68 operations within 13 ms, suffix"
TWO = "fault 2, stream: 57 lost of row; 255 operations within 74 ms, holes"
WORST = "worst window 74 ms with 255 operations, holes"


@pytest.mark.parametrize(
    ("changed", "counts", "percent"),
    [
        ({}, "0 of 1,000", "0 %"),
        ({"lost": 106, "lost_operations": 323}, "323 of 1,000", "32 %"),
        ({"lost": 1, "lost_operations": 4}, "4 of 1,000", "< 1 %"),
        ({"lost": 106, "lost_operations": None, "detail": f"by fault: {ONE} | {TWO}; 106 lost; {WORST}"}, "323 of 1,000", "32 %"),
        ({"lost": 468, "lost_operations": None, "detail": f"by fault: {ONE} | {TWO} | and 3 more; {WORST}"}, "≥ 468 of 1,000", "≥ 46 %"),
        ({"lost": 110, "lost_operations": None, "detail": f"by fault: {ONE} | {TWO} | and 3 more; {WORST}"}, "≥ 323 of 1,000", "≥ 32 %"),
        ({"lost": 9, "lost_operations": None, "detail": "no word of it"}, "≥ 9 of 1,000", "≥ 0.9 %"),
        ({"lost": 9, "lost_operations": None, "cluster_rounds": [ISOLATED, ISOLATED]}, f"{2 * ISOLATED.lost:,} of 1,000", "100 %"),
    ],
)
def test_operations_are_divided_by_operations(changed: dict[str, Any], counts: str, percent: str) -> None:
    """A count of lost records is never set against one of operations, but as a lower bound: each record is one operation or more."""
    lost = lost_by(fault("power_loss", Outcome.FAIL, **changed))
    assert (lost.counts, lost.percent) == (counts, percent)
