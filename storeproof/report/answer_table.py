"""The answer as one table: which roles each store fills, what it lost, and how fast it was. Every cell shows a field of a result."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from storeproof import units
from storeproof.check.strength import strength
from storeproof.errors import UsageError
from storeproof.outcome import SHOWN
from storeproof.report import formatting
from storeproof.report.axes import Pair, setting
from storeproof.report.parts.losses import COLUMNS, Loss, loss_of, losses_of
from storeproof.report.parts.roles import MANY, lacks, role_of
from storeproof.report.speed import numbers
from storeproof.report.tables import workloads
from storeproof.result.compare import unlike_measurements
from storeproof.result.measured.failover import promoted_by_storeproof
from storeproof.result.measurement import Interval, Measurement
from storeproof.result.model import ProfileVerdict, Result, StoreResult
from storeproof.result.product import short_product
from storeproof.spec.guarantee import FAULT_WORDS, NETWORKED
from storeproof.stats.intervals import Grade

SPEEDS: Final = {
    "single-put-distinct-100": "write a value",
    "hash10-put": "write ten fields",
    "hash10-get": "read ten fields",
    "document10-insert-1": "insert a document",
}
"""The workloads that have a column where none are asked for."""


@dataclass(frozen=True)
class AnswerCell:
    """Text, a shorter one for narrow pictures, how it is meant (`good`, `near`, `bad` or nothing), and of a rate its interval and grade."""

    text: str
    brief: str
    tone: str = ""
    rate: Interval | None = None
    grade: Grade | None = None


@dataclass(frozen=True)
class ColumnGroup:
    """Columns under one heading; a row of cells for each store."""

    kind: Literal["roles", "losses", "failovers", "speeds"]
    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[AnswerCell]]
    notes: Sequence[str] = ()
    """Why numbers are not in it."""


@dataclass(frozen=True)
class AnswerTable:
    """All of the picture but its drawing."""

    answer: str
    """The answer in one sentence; empty where no role was asked about."""
    stores: Sequence[tuple[str, str]]
    """Product with version, and variant."""
    groups: Sequence[ColumnGroup]
    notes: Sequence[str] = field(default_factory=tuple)


_STRUCK: Final = (*COLUMNS, *NETWORKED)
"""The guarantees that have a column where their faults struck."""
_NOTHING = AnswerCell("–", "–")
APART: Final = AnswerCell("not comparable", "apart", "near")
"""A number that may not stand beside the others of its column."""


def answer_table(results: Sequence[Result], speeds: Result, wanted: Sequence[str], titles: Mapping[str, str]) -> AnswerTable:
    """The table of results that are judged alike, with the speeds of another, or of the only one.

    `wanted`: the workloads that have a column; where there are none, `SPEEDS`. `titles`: of capabilities, by name.

    Raises:
        UsageError: the results are not judged alike, a wanted workload was not measured, or nothing in them has a column.
    """
    stores = judged_alike(results)
    found = [_roles(stores), losses(stores), *_speeds(stores, speeds, wanted)]
    groups = [group for group in (*found[:2], _failovers(stores), *found[2:]) if group is not None]
    if not groups:
        raise UsageError("the result has no profile that was met, no fault that struck and no speed: there is nothing to draw")
    names = [(short_product(store.title, store.version), store.configuration) for store in stores]
    ways = {name: None for store in stores for each in store.profiles for name in role_of(each).looser}
    notes = sources(results, speeds, "Roles and losses", drawn=any(found[2:]))
    return AnswerTable(
        answer(stores, titles) if found[0] else "",
        names,
        groups,
        [*notes, *_legend(stores, found, [_in_words(name, titles) for name in ways]), *(note for group in groups for note in group.notes)],
    )


def judged_alike(results: Sequence[Result]) -> list[StoreResult]:
    """The stores of all results: by one edition, at one scale, and each variant once."""
    if len({(result.edition.version, result.edition.hash, result.run.scale) for result in results}) > 1:
        raise UsageError("the results are of several editions or scales: their stores would not be judged alike; draw each by itself")
    stores = [store for result in results for store in result.stores]
    names = [formatting.name_of(store) for store in stores]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{', '.join(twice)}: in more than one of the results; name one of them")
    return stores


def _roles(stores: Sequence[StoreResult]) -> ColumnGroup | None:
    names = list(dict.fromkeys(each.profile for store in stores for each in store.profiles))
    if not any(each.verdict == "conforms" for store in stores for each in store.profiles):
        return None
    rows = []
    for store in stores:
        verdicts = {each.profile: each for each in store.profiles}
        rows.append([_role(verdicts[name]) if name in verdicts else _NOTHING for name in names])
    return ColumnGroup("roles", "can it be a …", [name.replace("_", " ") for name in names], rows)


def _role(verdict: ProfileVerdict) -> AnswerCell:
    role = role_of(verdict)
    if role.verdict == "meets":
        sign = "✔*" if role.looser else "✔"
        return AnswerCell(sign, sign, "good")
    if role.verdict == "open":
        return AnswerCell("not run", "○")
    count, open_ = len(role.broken) + len(role.lacks), len(role.open)
    said = f"{count} missing" + (f", {open_} not shown" if open_ else "")
    return AnswerCell(said, str(count), "near" if count + open_ < MANY else "")


def answer(stores: Sequence[StoreResult], titles: Mapping[str, str]) -> str:
    """Which stores fill all roles; where none does, which lack the least, and what, unless that is too much for a sentence."""
    lacking = {
        _name(store, stores): {what for each in store.profiles for what in lacks(each)}
        for store in stores
        if store.profiles and not any(role_of(each).open for each in store.profiles)
    }
    if not lacking:
        return ""
    roles = len({each.profile for store in stores for each in store.profiles})
    least = min(map(len, lacking.values()))
    nearest = [name for name, what in lacking.items() if len(what) == least]
    if not least:
        return f"{_listed(nearest)} can fill all {roles} roles."
    what = sorted(set().union(*(lacking[name] for name in nearest)))
    if least == len(what) < MANY:
        things = _listed([_in_words(each, titles) for each in what])
    else:
        things = units.plural(least, "thing") + (" each" if len(nearest) > 1 else "")
    return f"No store fills all {roles} roles. Nearest: {_listed(nearest)}, without {things}."


def _in_words(thing: str, titles: Mapping[str, str]) -> str:
    """The title of a capability, of alternatives that of the first; else the name, as of a model."""
    first, *others = thing.split(" or ")
    said = f"“{titles[first]}”" if first in titles else first
    return f"{said} or {units.plural(len(others), 'alternative')}" if others else said


def _name(store: StoreResult, stores: Sequence[StoreResult]) -> str:
    alone = sum(each.store == store.store for each in stores) == 1
    return store.title if alone else f"{store.title} ({store.configuration})"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def losses(stores: Sequence[StoreResult]) -> ColumnGroup | None:
    """What each fault cost each store; None where none struck."""
    records = [{each.guarantee: each for each in store.durability.guarantees} for store in stores]
    struck = [name for name in _STRUCK if any(name in each and each[name].rounds for each in records)]
    if not struck:
        return None
    rows = [
        [_loss(loss_of(each[name], store)) if name in each else _NOTHING for name in struck]
        for store, each in zip(stores, records, strict=True)
    ]
    return ColumnGroup("losses", "acknowledged writes lost", [FAULT_WORDS[name].alone for name in struck], rows)


def _loss(loss: Loss) -> AnswerCell:
    outcome = loss.record.outcome
    if not loss.record.rounds:
        return AnswerCell("not run", "○")
    if loss.state == "lost":
        share = loss.lost.percent
        ended = ",\nno start" if loss.unstartable else ""
        return AnswerCell(f"{share} lost" + (ended or ("" if loss.promised else "\n(not promised)")), f"{share}{ended}", loss.tone)
    if loss.state == "changed":
        return AnswerCell(loss.text, loss.text.replace(" ", "\n"), loss.tone)
    if loss.state == "no_start":
        return AnswerCell("did not start", "no start", loss.tone)
    if loss.state == "open":
        said = loss.text if outcome in SHOWN else str(outcome)
        return AnswerCell(said, said, "bad" if loss.promised else "near")
    return AnswerCell(loss.text, "0", loss.tone)


def at_least(stores: Sequence[StoreResult]) -> list[str]:
    """What a lower bound of a loss is, as a note, where there is one."""
    bound = any(loss.lost.at_least for store in stores for name, loss in losses_of(store).items() if name in _STRUCK)
    return ["≥ … lost: the result counts the records that were lost, and each of them is one operation or more."] if bound else []


def _failovers(stores: Sequence[StoreResult]) -> ColumnGroup | None:
    """How long it took until another node took writes; None where no primary of a cluster was struck."""
    found = [losses_of(store) for store in stores]
    struck = [name for name in NETWORKED if any(name in each and each[name].failover for each in found)]
    if not struck:
        return None
    rows = [[_failover(each.get(name)) for name in struck] for each in found]
    return ColumnGroup("failovers", "failover", [FAULT_WORDS[name].alone for name in struck], rows)


def _failover(loss: Loss | None) -> AnswerCell:
    if loss is None or loss.failover is None:
        return _NOTHING
    usual, longest = map(units.seconds, loss.failover)
    sign = "†" if promoted_by_storeproof(loss.record.cluster_rounds) else ""
    return AnswerCell(f"{usual}{sign}\n(at most {longest})", f"{usual}{sign}")


def _speeds(stores: Sequence[StoreResult], speeds: Result, wanted: Sequence[str]) -> list[ColumnGroup]:
    measured = workloads(speeds)
    if unknown := [name for name in wanted if name not in measured]:
        raise UsageError(f"{', '.join(unknown)}: not measured in this result; it has {', '.join(measured) or 'no workload'}")
    names = list(wanted) or [name for name in SPEEDS if name in measured] or list(measured)[: len(SPEEDS)]
    columns = {name: column_of(measured[name]) for name in names}
    apart = {name: set_apart(pairs) for name, pairs in columns.items()}
    # A column without a single valid number says nothing.
    counts = {name: pairs[0][1].clients for name, pairs in columns.items() if any(rate_cell(each).rate for _, each in pairs)}
    if not counts:
        return []
    alike = len(set(counts.values())) == 1
    rows = [[_speed(store, columns[name], apart[name]) for name in counts] for store in stores]
    headings = [SPEEDS.get(name, name) + ("" if alike else f"\n{units.plural(count, 'client')}") for name, count in counts.items()]
    title = "operations per second" + (f", {units.plural(next(iter(counts.values())), 'client')}" if alike else "")
    return [
        ColumnGroup("speeds", title, headings, rows, list(dict.fromkeys(note for name in counts for note in reasons_apart(apart[name]))))
    ]


def column_of(measured: Iterable[Pair]) -> list[Pair]:
    """The plainest measurements of a workload, at the number of clients at which most stores have a valid one; of several such numbers the
    middle one, since the largest shows what a store does when it is asked too much."""
    plain = [pair for pair in measured if not setting(pair[1])]
    if not plain:
        return []
    indexes = min(each.indexes for _, each in plain)
    by_clients: dict[int, list[Pair]] = {}
    for pair in plain:
        if pair[1].indexes == indexes:
            by_clients.setdefault(pair[1].clients, []).append(pair)
    valid = {clients: sum(rate_cell(each).rate is not None for _, each in found) for clients, found in by_clients.items()}
    most = sorted((clients for clients, count in valid.items() if count == max(valid.values())), reverse=True)
    return by_clients[most[(len(most) - 1) // 2]]


def set_apart(column: Sequence[Pair]) -> dict[str, str]:
    """By `store:variant`: the numbers of a column that are unlike most of the others, and in what, as `storeproof compare` refuses them.

    Of unlike durability they may be: what is lost stands beside them.
    """
    counted = {id(one): sum(not unlike_measurements(one, other) for _, other in column) for _, one in column}
    usual = max((each for _, each in column), key=lambda each: counted[id(each)], default=None)
    why = {formatting.name_of(store): "; ".join(unlike_measurements(each, usual)) for store, each in column} if usual else {}
    return {name: reason for name, reason in why.items() if reason}


def _speed(store: StoreResult, column: Sequence[Pair], apart: Collection[str]) -> AnswerCell:
    """The speed of the same store, variant and version: another version is another store."""
    name = formatting.name_of(store)
    same = [each for other, each in column if formatting.name_of(other) == name and other.version == store.version]
    if name in apart:
        return APART
    return rate_cell(same[0]) if same else _NOTHING


def reasons_apart(apart: Mapping[str, str]) -> list[str]:
    """Why some numbers are not shown beside the others, as a note."""
    return [f"Not comparable: {'; '.join(f'{name}: {why}' for name, why in apart.items())}."] if apart else []


def rate_cell(measured: Measurement) -> AnswerCell:
    """A rate with its interval or the word *drifting*, and its grade; ✘ and what broke where it is not valid."""
    text, note = numbers.in_words(measured)
    if not numbers.valid(measured):
        return AnswerCell(text, "✘", "bad")
    return AnswerCell(f"{text} {note}", note if measured.trend.drifting else text, rate=measured.throughput, grade=measured.grade)


def sources(results: Sequence[Result], speeds: Result, what: str, *, drawn: bool = True) -> list[str]:
    """One line for each run: `what` the results show, and whose speeds are `drawn`."""
    if len(results) == 1 and speeds is results[0]:
        return ["All: " + _source_of(speeds)]
    return [*(f"{what}: {_source_of(result)}" for result in results), *(["Speeds: " + _source_of(speeds)] if drawn else [])]


def _source_of(result: Result) -> str:
    """The run, its scale and edition, and the machine, in one sentence."""
    machine = result.environment
    return (
        f"run {result.run.id}, {result.run.started[:10]}, scale {result.run.scale}, edition {result.edition.name}, "
        f"{machine.cpu}, {units.plural(machine.cores, 'core')}, {units.size(machine.memory_bytes)}"
        + (f", of which each store was given {machine.confined_to}." if machine.confined_to else ".")
    )


def _legend(stores: Sequence[StoreResult], found: Sequence[ColumnGroup | None], ways: Sequence[str]) -> Iterable[str]:
    roles, lost, *speeds = found
    if roles:
        yield "✔ has all that the profile demands; a number counts the models, capabilities and guarantees that are missing."
    if roles and ways:
        yield f"✔* in one of several ways, and not in the strictest: by {_listed(ways)}."
    if lost:
        records = [each for store in stores for each in store.durability.guarantees if each.guarantee in _STRUCK]
        most = max(records, key=lambda each: (each.rounds, not each.faults_with_loss))
        yield (
            f"Lost: acknowledged operations missing after up to {most.rounds} faults. No start: after one of them it did not start again. "
            "Yellow, and not promised: the variant does not claim to survive this; red: it does."
        )
        yield from at_least(stores)
        if any(each.torn for each in records):
            yield "Torn: a record that is neither wholly old nor wholly new."
        if most.loss_bound is not None and not most.faults_with_loss:
            supported = strength(most.rounds, 0, most.loss_bound)
            yield f"{supported[0].upper()}{supported[1:]}."
    if _failovers(stores):
        yield "Failover: from the fault to the first write that another node acknowledged; the median of all rounds, and the longest."
        if any(promoted_by_storeproof(each.cluster_rounds) for store in stores for each in store.durability.guarantees):
            yield "†: promoted by storeproof at once, as an operator would; what detects the loss was not there."
    if speeds:
        yield f"Grades by half the 95 % interval over rounds: {numbers.BRIEF} · – not measured, or the store cannot do it."
        cells = [cell for group in speeds if group for row in group.rows for cell in row]
        if any("drifting" in cell.text for cell in cells):
            yield "Drifting: the rate went on changing from round to round."
        if any(cell.text.startswith("✘") for cell in cells):
            yield "✘: not valid, and what broke."
