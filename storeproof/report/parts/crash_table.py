"""Each state of a crash and each error of a disk, in numbers: how many were tried, and after how many something is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from storeproof.outcome import Outcome
from storeproof.report.formatting import name_of
from storeproof.report.tables import Cell, Table
from storeproof.result.measured.crash_states import CrashStateCounts
from storeproof.result.measured.io_errors import IoErrorCounts
from storeproof.result.model import OutcomeRecord, Result, StoreResult
from storeproof.spec.cases import crash_states_case
from storeproof.spec.guarantee import CRASHES
from storeproof.units import whole

TITLE: Final = "States that a crash may leave, and errors of the disk"
NOTE: Final = (
    "States that a crash may have left of a recording: those tried, of those listed. Errors of the disk: each alone, and with all later "
    "ones; what the store then did. Wrong is missing or wrong data, or a store that does not work. What was found is counted in states and "
    "errors, which may show several things each."
)
_REACTIONS: Final = ("refused", "read_only", "ended", "went_on")
_BROKEN: Final = {Outcome.FAIL, Outcome.KNOWN_FAIL}
_NONE: Final = Cell("–", "dim")
_HEADER: Final = (
    "store:variant", "claims", "kill -9: states", "wrong after", "power cut: states", "wrong after",
    "errors", "refused", "read-only", "ended", "told no one", "wrong after", "found",
)  # fmt: skip


def crash_table(result: Result) -> Table:
    """A row for each variant whose disk was recorded or failed; without rows where none was."""
    rows = [row for store in result.stores if (row := _row(store))]
    return Table(_HEADER, rows, "No disk was recorded in this run.", frozenset(range(2, len(_HEADER) - 1)))


def _row(store: StoreResult) -> list[Cell]:
    """Empty if nothing of it was tried."""
    by = {each.id: each for each in store.outcomes}
    states = [by.get(crash_states_case(guarantee)) for guarantee in CRASHES]
    errors = [each for each in store.outcomes if each.io_errors is not None]
    tried = [counts for each in (*states, *errors) if each is not None and (counts := each.crash_states or each.io_errors) is not None]
    if not tried:
        return []
    return [
        Cell(name_of(store), "strong"),
        Cell(store.durability.claimed),
        *(cell for each in states for cell in _of_states(each)),
        *_of_errors(errors),
        Cell(_found(tried) or "–"),
    ]


def _of_errors(found: Sequence[OutcomeRecord]) -> Sequence[Cell]:
    """How many were tried, what the store did, and after how many something is wrong."""
    columns = ("tried", *_REACTIONS)
    if not found:
        return [_NONE] * (len(columns) + 1)
    counts = [each.io_errors for each in found if each.io_errors is not None]
    trials = [each for one in counts for each in (one.once, one.lasting)]
    sums = [Cell(whole(sum(getattr(each, name) for each in trials))) for name in columns]
    return [*sums, _wrong(counts, [each.outcome for each in found])]


def _of_states(found: OutcomeRecord | None) -> Sequence[Cell]:
    """How many were tried of how many, and after how many something is wrong."""
    if found is None or (counts := found.crash_states) is None:
        return [_NONE, _NONE]
    tried, listed = (sum(getattr(tier, what) for tier in counts.tiers) for what in ("tried", "states"))
    return [Cell(f"{whole(tried)} of {whole(listed)}", hint=found.detail), _wrong([counts], [found.outcome])]


def _wrong(counts: Iterable[CrashStateCounts | IoErrorCounts], outcomes: Iterable[Outcome]) -> Cell:
    """After how many something is wrong; red where that breaks a promise."""
    number = sum(each.losing + each.unusable for each in counts)
    return Cell(whole(number), "bad" if not _BROKEN.isdisjoint(outcomes) else "near" if number else "")


def _found(counts: Iterable[CrashStateCounts | IoErrorCounts]) -> str:
    """`3 lost, 1 unstartable`."""
    kinds = Counter[str]()
    for each in counts:
        kinds.update(each.kinds)
    return ", ".join(f"{whole(number)} {kind}" for kind, number in sorted(kinds.items()))
