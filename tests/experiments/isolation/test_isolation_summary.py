"""What a case says of the transactions that it saw."""

from __future__ import annotations

from typing import Any

import pytest

from storeproof.blame import CaseEnding
from storeproof.evidence import TransactionsEvidence
from storeproof.experiments.isolation.isolation_summary import LEAST, IsolationSummary
from storeproof.outcome import Outcome
from tests.conformance.isolation.test_isolation import LEVEL, MIX, sent


def judged(transactions: Any, guarantees: Any = "serializable", **kept: Any) -> IsolationSummary:
    summary = IsolationSummary(level=LEVEL, mix=MIX, guarantees=guarantees)
    summary.judge(TransactionsEvidence(LEVEL, MIX, transactions, **kept))
    return summary


def test_a_level_is_not_refuted_by_so_many_contended_transactions() -> None:
    """Fewer say nothing."""
    enough = judged(sent())
    assert (enough.ending, enough.outcome(claimed=True)) == (CaseEnding.RIGHT, Outcome.PASS)
    assert enough.sentence() == "serializable is not refuted by 270 transactions, 270 of them contended; 30 rolled back"
    few = judged(sent()[:100])
    assert (few.ending, few.outcome(claimed=True)) == (CaseEnding.UNCONTENDED, Outcome.INCONCLUSIVE)
    assert f"only 90 transactions, 90 of them contended; it takes {LEAST} to say something" in few.sentence()


def test_an_anomaly_fails_where_it_is_forbidden() -> None:
    """And is told where it is allowed."""
    losing = sent(loses=150)
    fails, allowed = judged(losing), judged(losing, "read_committed")
    assert (fails.ending, [sorted(each.kinds) for each in fails.findings]) == (CaseEnding.WRONG_ANSWER, [["lost-update"]])
    assert fails.sentence().startswith("not serializable: lost update, first after 136 commits, in 270 transactions")
    assert fails.lines()[-1] == "The later of the two overwrote an update that it had not seen."
    assert (allowed.ending, allowed.findings) == (CaseEnding.RIGHT, [])
    assert "seen, and allowed: lost update, first after 136 commits" in allowed.sentence()


@pytest.mark.parametrize(
    ("kept", "ending"),
    [
        ({"not_written": ["k1 is torn"]}, CaseEnding.MADE_UP),
        ({"refusal": "no transactions today"}, CaseEnding.REFUSED),
        ({}, CaseEnding.UNCONTENDED),
    ],
)
def test_without_commits_it_counts_what_came_instead(kept: Any, ending: CaseEnding) -> None:
    """A store that refuses all transactions does not have the level."""
    assert judged([], **kept).ending is ending
