"""The transfers of a round come back from their line as they were, and a line that is none of a run is refused."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.check import Books
from storeproof.evidence import EvidenceDamaged, TransferEvidence
from storeproof.evidence.transfers import transfers_of, transfers_on_line
from storeproof.history import ABSENT, Balances, Observation, Transfer

KEPT = TransferEvidence(
    "r1:entry:",
    [
        Transfer(client=0, entry="r1:entry:0:1", write_id="0:1", source="a", target="b", amount=3, invoked=5, completed=9, outcome="ok"),
        Transfer(client=1, entry="r1:entry:1:1", write_id="1:1", source="b", target="a", amount=-2, invoked=7),
    ],
    [Balances(client=1, invoked=6, shown={"a": -3, "b": 3}), Balances(client=0, invoked=8, shown={"a": 0, "b": 0})],
    Books({"r1:entry:0:1": Observation("whole", "0:1"), "r1:entry:1:1": ABSENT}, {"a": -3, "b": 3}),
)


def test_transfers_come_back_as_they_were() -> None:
    """Their times count from another one."""
    assert transfers_of(transfers_on_line(KEPT, 0)) == KEPT
    assert transfers_of(transfers_on_line(KEPT, 4)).sent[1].invoked == 3


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"client": [0]}, "columns of transfers have different lengths"),
        ({"source": [0, 2]}, "transfer 1 is none of a run"),
        ({"target": [2, 0]}, "transfer 0 is none of a run"),
        ({"after": [5, -1]}, "transfer 1 is none of a run"),
        ({"took": [-1, -1]}, "transfer 0 is none of a run"),
        ({"outcome": "ox"}, "transfer 1 is none of a run"),
        ({"entry": [5, None]}, "a record is read back as a counter"),
        ({"accounts": ["a", "a"]}, "each snapshot shows each account once"),
        ({"balances": [0]}, "each snapshot shows each account once"),
        ({"snapshots": {"client": [1], "after": [6], "shown": [[0]]}}, "each snapshot shows each account once"),
        ({"snapshots": {"client": [1], "after": [6, 1], "shown": [[0, 0]]}}, "columns of transfers have different lengths"),
    ],
)
def test_a_line_that_is_none_of_a_run_is_refused(changed: dict[str, Any], reason: str) -> None:
    """By what is wrong in it."""
    line = transfers_on_line(KEPT, 0)
    with pytest.raises(EvidenceDamaged, match=reason):
        transfers_of(type(line).model_validate(line.model_dump() | changed))
