"""What each isolation level of a store guarantees, and what random transactions showed of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from storeproof.report.formatting import name_of
from storeproof.report.tables import Cell, Table, outcome_cell
from storeproof.result.measured.isolation import AnomalySeen, IsolationCounts
from storeproof.result.model import OutcomeRecord, StoreResult
from storeproof.spec.isolation import ANOMALIES, ORDERS, in_words
from storeproof.units import plural, whole

TITLE: Final = "Isolation, by random transactions"
NOTE: Final = (
    "A level is held to what its maker says that it guarantees, not to its name. A pass means that these transactions refute nothing; it "
    "proves no level. An anomaly stands with the number of commits after which the first of its kind was there to be seen."
)
_HEADER: Final = (
    *("store:variant", "level", "guarantees", "mix", "outcome", "committed", "contended", "rolled back"),
    *("seen, and forbidden", "seen, and allowed"),
)


def isolation_table(stores: Iterable[StoreResult], anchor: Callable[[StoreResult, str], str] = lambda _store, _case: "") -> Table:
    """A row for each level and mix that was tried; without rows where none was. `anchor`: the id of a row, by its case."""
    rows = [_row(store, record, counts, anchor(store, record.id)) for store in stores for record, counts in tried(store)]
    return Table(_HEADER, rows, "No isolation level was tried in this run.", frozenset(range(5, 8)))


def tried(store: StoreResult) -> Iterator[tuple[OutcomeRecord, IsolationCounts]]:
    """The cases of levels, with what was counted."""
    return ((each, each.isolation) for each in store.outcomes if each.isolation is not None)


def _row(store: StoreResult, record: OutcomeRecord, counts: IsolationCounts, anchor: str) -> list[Cell]:
    return [
        Cell(name_of(store), "strong", id=anchor),
        Cell(counts.level.replace("_", " ")),
        Cell(in_words(counts.guarantees)),
        Cell(counts.mix),
        outcome_cell(record.outcome, hint=record.detail),
        *(Cell(whole(number)) for number in (counts.committed, counts.contended, counts.rolled_back)),
        Cell(_listed(counts, forbidden=True) or "–", "bad" if any(each.forbidden for each in counts.anomalies) else "dim"),
        Cell(_listed(counts, forbidden=False) or "–"),
    ]


def _listed(counts: IsolationCounts, *, forbidden: bool) -> str:
    return ", ".join(named(each) for each in counts.anomalies if each.forbidden is forbidden)


def named(seen: AnomalySeen) -> str:
    """`write skew (G2-item), after 6 commits`."""
    return f"{ANOMALIES[seen.kind]}{ORDERS[seen.order]}, after {plural(seen.after, 'commit')}"
