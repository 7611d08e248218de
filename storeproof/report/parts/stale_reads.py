"""Stale reads, and what strikes one server of a composite store or the link to it: what was seen, as the cases say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from storeproof.outcome import IDLE, Outcome
from storeproof.report.formatting import name_of
from storeproof.report.tables import Cell, Table, outcome_cell
from storeproof.result.model import OutcomeRecord, Result, StoreResult

NOTE: Final = (
    "A read is stale if it returns a value although a newer write was acknowledged before the read was sent; its age is the time since "
    "that acknowledgement. Clients read and write two keys at the same time; no server fails. Of a composite store one server, or the link "
    "to it, is struck as well, and every key is read afterwards."
)

_LINKS: Final = {"front_link": "link to the front", "home_link": "link to the home", "both_links": "both links"}
_DONE: Final[Mapping[str, str]] = {
    "stale_reads.single_key": "reads beside writes of values",
    "stale_reads.hash10": "reads beside writes of hashes",
    "stale_reads.document10": "reads beside writes of documents",
    "durability.front_kill": "front killed",
    "durability.home_kill": "home killed",
    "durability.front_pause": "front halted",
    "durability.home_pause": "home halted",
    **{f"durability.{name}/reset": f"{words}: connections are reset" for name, words in _LINKS.items()},
    **{f"durability.{name}/hang": f"{words}: nothing comes through" for name, words in _LINKS.items()},
}
"""What is done, by case."""


@dataclass(frozen=True)
class Stale:
    """How many reads were stale while no server failed, over all models that were tried."""

    stale: int
    reads: int
    oldest_ms: float
    """The greatest age; 0 where none was stale."""
    broken: bool
    """Whether they were stale although the variant does not declare it."""


def stale_of(store: StoreResult) -> Stale | None:
    """The stale reads of one store; None where it was not tried."""
    found = [(each.stale_reads, each.outcome) for each in _tried(store) if each.id.startswith("stale_reads.") and each.stale_reads]
    if not found:
        return None
    stale, reads, oldest = zip(*((seen.stale, seen.reads, seen.oldest_ms) for seen, _ in found), strict=True)
    return Stale(sum(stale), sum(reads), max(oldest), broken=any(outcome is Outcome.FAIL for _, outcome in found))


def stale_table(store: StoreResult) -> Table:
    """A row for each case that ran."""
    return Table(("what was tried", "verdict", "what was seen"), [_row(each) for each in _tried(store)], "Its reads were not watched.")


def stale_reads(result: Result) -> Table:
    rows = [[Cell(name_of(store), "strong"), *_row(each)] for store in result.stores for each in _tried(store)]
    return Table(("store:variant", "what was tried", "verdict", "what was seen"), rows, "No reads were watched in this run.")


def is_stale(found: OutcomeRecord) -> bool:
    """Whether it is one of these cases, and reads were stale in it."""
    return found.stale_reads is not None and found.stale_reads.stale > 0


def _tried(store: StoreResult) -> list[OutcomeRecord]:
    found = {each.id: each for each in store.outcomes if each.outcome not in IDLE}
    return [found[case] for case in _DONE if case in found]


def _row(found: OutcomeRecord) -> list[Cell]:
    return [Cell(_DONE[found.id], "strong"), _verdict(found), Cell(found.why)]


def _verdict(found: OutcomeRecord) -> Cell:
    """A declared one is amber: the variant says that reads may be stale, and they were. Seeing none shows nothing then."""
    if found.outcome in (Outcome.PASS, Outcome.UNDECLARED, Outcome.UNSUPPORTED) and is_stale(found):
        return Cell("✗ stale, as declared", "near")
    if found.outcome is Outcome.UNSUPPORTED and found.stale_reads is not None:
        return Cell("none seen, and not promised", "open")
    return outcome_cell(found.outcome)
