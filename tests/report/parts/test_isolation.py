"""Isolation levels as the report shows them: a row for each, and the anomalies drawn and told."""

from __future__ import annotations

from typing import get_args

import pytest

from storeproof.experiments.isolation.isolation_summary import IsolationSummary
from storeproof.report.parts.isolation_drawn import anomalies_drawn
from storeproof.report.parts.isolation_table import isolation_table, named
from storeproof.result.model import StoreResult
from storeproof.spec.isolation import ORDERS, AnomalyOrder
from tests.conformance.isolation.test_isolation import CASE, Claim, made, sent
from tests.conformance.published import published


def store_with(claim: Claim) -> StoreResult:
    store = published().stores[0]
    record = store.outcomes[0].model_copy(update={"id": CASE, "outcome": claim.outcome, "isolation": claim.counts})
    return store.model_copy(update={"outcomes": [record]})


def test_a_level_has_a_row() -> None:
    """With what was seen of it, and whether the level forbids that."""
    (row,) = isolation_table([store_with(made(sent(loses=150)))]).rows
    texts = [cell.text for cell in row[1:]]
    lost = "lost update, after 136 commits"
    assert texts == ["serializable", "serializable", "read-modify-write", "✘ fail", "270", "270", "30", lost, "–"]
    assert row[-2].tone == "bad"
    assert isolation_table([published().stores[0]]).rows == []


def test_an_anomaly_is_drawn() -> None:
    """A lane and a bar for each transaction, an arrow for each step, and the story in words."""
    ((case, (drawn,)),) = anomalies_drawn(store_with(made(sent(loses=150))))
    assert (case, drawn.title, drawn.forbidden) == (CASE, "forbidden: lost update, after 136 commits", True)
    assert drawn.svg.count("<rect") == 2
    assert drawn.svg.count("<line") == drawn.svg.count("<path") == 2
    assert " id=" not in drawn.svg, "a page has many of them"
    assert "k0 = 0:38, k0 := 1:38" in drawn.svg
    assert len(drawn.story) == 3
    assert list(anomalies_drawn(store_with(made(sent())))) == []


@pytest.mark.parametrize("order", get_args(AnomalyOrder))
def test_what_shows_an_anomaly_is_said_alike(order: AnomalyOrder) -> None:
    """In the table, and in the sentence of the case."""
    counts = made(sent(loses=150)).counts
    assert counts is not None
    (found,) = counts.anomalies
    seen = found.model_copy(update={"order": order})
    summary = IsolationSummary(level=counts.level, mix=counts.mix, guarantees=counts.guarantees, anomalies=[seen])
    words = f"lost update{ORDERS[order]}"
    assert named(seen) == f"{words}, after 136 commits"
    assert f"{words}, first after 136 commits" in summary.sentence()
