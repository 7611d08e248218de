"""What a run found, in one table: the roles that each store fills, what it lost, and how fast it was. Each cell leads to what says more."""

from __future__ import annotations

from typing import Final

from storeproof import units
from storeproof.outcome import SHOWN
from storeproof.report.answer_table import APART, rate_cell
from storeproof.report.formatting import name_of
from storeproof.report.parts.losses import COLUMNS, Loss, losses_of
from storeproof.report.parts.roles import ProfileAnswer, label_of, profiles_in, role_of
from storeproof.report.parts.speeds import SPEEDS, SpeedColumn, speed_columns
from storeproof.report.tables import Cell, Table, anchor, workloads
from storeproof.result.model import Result, StoreResult
from storeproof.result.needs.servers import tried
from storeproof.spec.guarantee import FAULT_WORDS, NETWORKED

_NAMED: Final = 10
"""Things that are lacking which a hint names."""


def overview(result: Result) -> Table:
    """One line for each store and variant."""
    profiles = profiles_in(each for store in result.stores for each in store.profiles)
    struck = [name for name in COLUMNS if any(name in losses_of(store) for store in result.stores)]
    clusters = [name for name in NETWORKED if any(name in losses_of(store) for store in result.stores)]
    speeds = [each for each in _speeds(result) if each.cells]
    rows = []
    for store in result.stores:
        roles = {each.profile: role_of(each) for each in store.profiles}
        losses = losses_of(store)
        rows.append(
            [
                Cell(name_of(store), "strong", f"#{anchor(store)}", store.product),
                _failed(store),
                _capabilities(store),
                *(_role(roles.get(name)) for name in profiles),
                *(_loss(losses.get(name)) for name in (*struck, *clusters)),
                *(_failover(losses.get(name)) for name in clusters),
                *(_speed(each, name_of(store)) for each in speeds),
            ]
        )
    header = [
        *("store:variant", "failed", "capabilities"),
        *map(label_of, profiles),
        *(f"lost by {FAULT_WORDS[name].alone}" for name in (*struck, *clusters)),
        *(f"failover: {FAULT_WORDS[name].alone}" for name in clusters),
        *(_heading(each) for each in speeds),
    ]
    first = len(header) - len(speeds)
    return Table(header, rows, "No store was run.", frozenset({1, 2, *range(first, len(header))}))


def workload_anchor(name: str) -> str:
    """The id of the part of the page with all numbers of a workload. An id has no spaces."""
    return "-".join(f"workload-{name}".split())


def role_anchor(profile: str) -> str:
    """The id of the part of the page that says what is missing for a profile."""
    return "-".join(f"role-{profile}".split())


def _failed(store: StoreResult) -> Cell:
    """Cases that failed or ended in an error."""
    bad = sum(each.is_failure for each in store.outcomes)
    return Cell(str(bad), "bad" if bad else "dim", f"#{anchor(store)}", f"of {units.plural(len(store.outcomes), 'case')}")


def _capabilities(store: StoreResult) -> Cell:
    """Capabilities that were shown, of all; a run that tried none says nothing of them."""
    if not tried(store):
        return Cell("not tried" if store.capabilities else "–", "dim")
    shown = sum(each.outcome in SHOWN for each in store.capabilities)
    claimed = sum(each.claimed for each in store.capabilities)
    return Cell(f"{shown} of {len(store.capabilities)}", "", "#correct", f"{claimed} claimed")


def _role(role: ProfileAnswer | None) -> Cell:
    if role is None:
        return Cell("not asked", "dim")
    if role.verdict == "meets":
        return Cell(role.text, role.tone, "#beyond" if role.ways else "", "; ".join(each.words for each in role.ways))
    missing = [*role.broken, *role.lacks, *role.open]
    more = f" and {len(missing) - _NAMED} more" if len(missing) > _NAMED else ""
    link = f"#{role_anchor(role.profile)}" if role.missing else ""
    return Cell(role.text, role.tone, link, ", ".join(missing[:_NAMED]) + more)


def _loss(loss: Loss | None) -> Cell:
    if loss is None:
        return Cell("not tried", "dim")
    promise = "" if loss.state in ("kept", "open") else f", {loss.promise}"
    return Cell(loss.text + promise, loss.tone, "#durable", loss.changed or units.plural(loss.record.rounds, "fault"))


def _failover(loss: Loss | None) -> Cell:
    taken, governed = (loss.failover_text, loss.governed) if loss else ("", "")
    hint = "; ".join(filter(None, ("the median of all rounds, and the longest", governed)))
    return Cell(taken or "–", "" if taken else "dim", "#durable", hint)


def _speeds(result: Result) -> tuple[SpeedColumn, ...]:
    """The four of the first screen; of a run that has none of them, the first that it has."""
    found = speed_columns(result)
    return found if any(each.cells for each in found) else speed_columns(result, list(workloads(result))[: len(SPEEDS)])


def _heading(column: SpeedColumn) -> str:
    measured = next(iter(column.cells.values()))
    return f"{SPEEDS.get(column.workload, measured.title)}, per second, {units.plural(column.clients, 'client')}"


def _speed(column: SpeedColumn, name: str) -> Cell:
    measured = column.cells.get(name)
    if name in column.apart:
        return Cell(APART.text, APART.tone, f"#{workload_anchor(column.workload)}", column.apart[name])
    if measured is None:
        return Cell("–", "dim")
    shown = rate_cell(measured)
    return Cell(f"{shown.text} {shown.grade or ''}".rstrip(), shown.tone, f"#{workload_anchor(column.workload)}")
