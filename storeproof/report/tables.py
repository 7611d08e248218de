"""The tables of a report, made once for every format that shows them. Nothing is judged here: a cell shows a field of the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from storeproof import units
from storeproof.outcome import REFUTED, Outcome
from storeproof.report import formatting
from storeproof.report.axes import Pair
from storeproof.report.parts.losses import brief, harm_of, loss_of
from storeproof.report.parts.origin import origin_told
from storeproof.result.machine import DiskSheet, Environment
from storeproof.result.model import GuaranteeRecord, Result, StoreResult
from storeproof.spec.guarantee import LADDER, NODES, rank


@dataclass(frozen=True)
class Cell:
    """One cell: text, and how it is meant."""

    text: str
    tone: str = ""
    """An outcome's name, or `good`, `near`, `bad`, `open`, `dim`, `strong`, `code`, `grade-a` to `grade-d`."""
    link: str = ""
    """The address of what says more: of a part of the page, `#` and its id."""
    hint: str = ""
    id: str = ""
    """The anchor of the cell, where a link leads to it."""


@dataclass(frozen=True)
class Table:
    """A table, or the sentence that stands where there is nothing to show."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    empty: str
    numbers: frozenset[int] = field(default_factory=frozenset)
    """Columns that are aligned to the right."""


def anchor(store: StoreResult, outcome: Outcome | None = None) -> str:
    """The id of the part of the page that lists the outcomes of a store."""
    return f"outcomes-{store.store}-{store.configuration}" + (f"-{outcome}" if outcome else "")


def outcome_cell(outcome: Outcome, more: str = "", link: str = "", hint: str = "") -> Cell:
    """An outcome with its sign and its name: never a colour alone."""
    return Cell(f"{formatting.MARKS[outcome]} {outcome}{more}", outcome.value, link, hint or formatting.MEANINGS[outcome])


def proven_cell(store: StoreResult) -> Cell:
    """The durability that was shown: good where it reaches the claim."""
    durability = store.durability
    if durability.proven is None:
        tried = durability.shown != "not tried"
        hint = "no evidence came of it in this run" if tried else "it was not tried in this run, and those above it rest on it"
        return Cell(durability.shown, "open", hint=f"{LADDER[1]}: {hint}")
    short_of = rank(durability.proven) < rank(durability.claimed)
    refuted = (durability.cited is not None and durability.cited.defect != "") or any(
        each.outcome in REFUTED and rank(each.guarantee) <= rank(durability.claimed)
        for each in durability.guarantees
        if each.guarantee in LADDER
    )
    tone = ("bad" if refuted else "open") if short_of else "good"
    if (cited := durability.cited) is None:
        return Cell(durability.proven, tone)
    return Cell(f"{durability.proven} (cited)", tone, hint=f"by run {cited.run} of {cited.started}, scale {cited.scale}, seed {cited.seed}")


def outcome_matrix(result: Result) -> Table:
    """Stores by outcomes, with every count, zeros too."""
    rows = []
    for store in result.stores:
        cells = [Cell(formatting.name_of(store), "strong", f"#{anchor(store)}")]
        for outcome in Outcome:
            number = store.counts.get(outcome, 0)
            cells.append(Cell(str(number), outcome.value if number else "dim", f"#{anchor(store, outcome)}" if number else ""))
        rows.append([*cells, Cell(str(sum(store.counts.values())), "strong")])
    header = ("store:variant", *(f"{formatting.MARKS[each]} {each}" for each in Outcome), "all")
    return Table(header, rows, "No store was run.", frozenset(range(1, len(Outcome) + 2)))


def ladder(result: Result) -> Table:
    """Durability: claimed, proven, and what became of every rung."""
    struck = {each.guarantee for store in result.stores for each in store.durability.guarantees}
    rungs = [rung for rung in LADDER if rung in struck or rung != LADDER[0]]  # the lowest one promises nothing and has no fault
    tried = {each.guarantee for store in result.stores for each in store.durability.guarantees if each.rounds}
    beside = [name for name in NODES if name in tried]
    rows = []
    for store in result.stores:
        durability = store.durability
        cells = [Cell(formatting.name_of(store), "strong"), Cell(durability.claimed), proven_cell(store)]
        for rung in rungs:
            found = next((each for each in durability.guarantees if each.guarantee == rung), None)
            cells.append(_rung_cell(found, store, claimed=rank(rung) <= rank(durability.claimed)))
        for name in beside:
            found = next((each for each in durability.guarantees if each.guarantee == name), None)
            claimed = found is not None and store.topology != "single" and loss_of(found, store).promised
            cells.append(_rung_cell(found, store, claimed=claimed))
        rows.append(cells)
    return Table(("store:variant", "claimed", "proven", *rungs, *beside), rows, "No store was run.")


def _rung_cell(found: GuaranteeRecord | None, store: StoreResult, *, claimed: bool) -> Cell:
    if found is None:
        return outcome_cell(Outcome.NOT_RUN) if claimed else Cell("not claimed", "dim")
    lost = harm_of(found)
    more = f": {lost}" if lost else ""
    loss = loss_of(found, store)
    taken = "".join((f"; failover {loss.failover_text}", f", by {loss.governed}" if loss.governed else "")) if loss.failover else ""
    if not claimed and not found.rounds:
        return Cell("not claimed", "dim", hint=found.detail)
    if not claimed and found.outcome is Outcome.UNSUPPORTED and lost:
        return Cell(f"not promised: {lost}{brief(found)}{taken}", "near", hint=found.detail)
    return outcome_cell(found.outcome, ("" if claimed else ", not claimed") + more + brief(found) + taken, hint=found.detail)


def workloads(result: Result) -> dict[str, list[Pair]]:
    """All measurements by workload, in the order of the result."""
    found: dict[str, list[Pair]] = {}
    for store in result.stores:
        for each in store.measurements:
            found.setdefault(each.workload, []).append((store, each))
    return found


def scaling(result: Result) -> Table:
    """How long an answer took as the data grew, with indexes and without."""
    rows = []
    sizes = list(dict.fromkeys(size for store in result.stores for each in store.scaling for size in each.seconds))
    for store in result.stores:
        for each in store.scaling:
            times = (units.seconds(each.seconds[size]) if size in each.seconds else "–" for size in sizes)
            how = Cell("✔ steady", "good") if each.sublinear else Cell("grows", "open")
            rows.append(
                [
                    Cell(each.capability, "code"),
                    Cell(formatting.name_of(store), "strong"),
                    Cell(formatting.indexes(each.indexes)),
                    *map(Cell, times),
                    Cell(f"× {units.amount(each.factor)}"),
                    how,
                ]
            )
    rows.sort(key=lambda row: row[0].text)
    numbers = frozenset(range(3, 4 + len(sizes)))
    header = ("question", "store:variant", "indexes", *(f"{units.whole(int(size))} records" for size in sizes), "factor", "")
    return Table(header, rows, "Growth was not measured in this run.", numbers)


def machine(result: Result) -> Table:
    """The machine and its physical limits."""
    environment = result.environment
    lines = [
        ("CPU", f"{environment.cpu}, {units.plural(environment.cores, 'core')}"),
        ("memory", units.size(environment.memory_bytes)),
        *placement(environment),
        ("kernel", environment.kernel),
        *_disks(environment),
        ("loopback round trip (median)", units.micros(environment.loopback_us)),
        ("noise of the machine: the same load twice on a server that does nothing", _noise(environment)),
        ("Python", environment.python),
        ("packages", ", ".join(f"{name} {version}" for name, version in environment.packages.items()) or "–"),
    ]
    ours = {store.topology for store in result.stores if store.launch != "endpoint"}
    if "cluster" in ours:
        lines.append(("nodes of a cluster", "all on this one machine, in one container: no network lies between them"))
    if ours - {"single", "replica_set", "cluster"}:
        lines.append(("nodes of a topology", "all on this one machine, each in a network namespace of its own"))
    return Table(("what", "found"), [[Cell(name, "strong"), Cell(value)] for name, value in lines], "")


def settings(result: Result) -> Table:
    """What ran, and what each live store said about its own configuration."""
    rows = []
    for store in result.stores:
        read = " · ".join(f"{name} = {value}" for name, value in {**store.settings, **store.timeouts}.items())
        shown = Cell(read, "code") if read else Cell("none were read", "dim")
        version = Cell(store.product, "" if store.version else "bad")
        program = Cell(store.image_digest or store.binary_digest or "–")
        whose = Cell(origin_told(store, result.run.started), "" if store.origin else "dim")
        launched = (Cell(store.launch or "–"), Cell(store.topology))
        rows.append([Cell(formatting.name_of(store), "strong"), version, *launched, shown, whose, program])
    read_back = "settings read back from the live store"
    header = ("store:variant", "version", "launch", "topology", read_back, "whose build", "image or binary")
    return Table(header, rows, "No store was run.")


def totals(result: Result) -> Table:
    """The sums at the foot of the report: who sees others in `result.json` holds a report that was cut short."""
    outcomes = {outcome: sum(store.counts.get(outcome, 0) for store in result.stores) for outcome in Outcome}
    lines = [
        ("stores and variants", len(result.stores)),
        ("outcomes", sum(outcomes.values())),
        *((f"… {formatting.MARKS[outcome]} {outcome}", number) for outcome, number in outcomes.items()),
        ("capabilities", sum(len(store.capabilities) for store in result.stores)),
        ("faults", sum(len(store.durability.guarantees) for store in result.stores)),
        ("measurements", sum(len(store.measurements) for store in result.stores)),
        ("outages", sum(len(store.outages) for store in result.stores)),
        ("profile verdicts", sum(len(store.profiles) for store in result.stores)),
    ]
    return Table(("in this report", "number"), [[Cell(name), Cell(str(number))] for name, number in lines], "", frozenset({1}))


def _disks(environment: Environment) -> list[tuple[str, str]]:
    """That of the data directory; of several each with its data sheet."""
    if environment.disks:
        return [(f"disk {name}", sheet_in_words(each)) for name, each in environment.disks.items()]
    return [
        ("disk of the data directory", environment.disk),
        ("file system", environment.filesystem),
        ("fsync of 4 KiB there (median)", units.micros(environment.fsync_us)),
    ]


def sheet_in_words(disk: DiskSheet) -> str:
    """What it is, and the medians of what was measured of it."""
    writes = {
        "600 bytes appended and synced": disk.append,
        "4 KiB overwritten and synced": disk.overwrite,
        "4 KiB written directly": disk.direct,
    }
    rates = {"written": disk.write_bytes_per_second, "read": disk.read_bytes_per_second}
    said = [f"{what} {units.micros(times.p50)}" for what, times in writes.items() if times is not None]
    said += [f"{units.size(round(rate))}/s {how} in sequence" for how, rate in rates.items() if rate is not None]
    sheet = [] if disk.model is None else [disk.model.figures, "measured of the model"]
    return "; ".join((f"{disk.disk}, {disk.filesystem}", *sheet, *said))


def _noise(environment: Environment) -> str:
    noise = environment.noise
    return f"{noise.ratio:.3f}× [{noise.low:.3f}, {noise.high:.3f}]" if noise else "not measured"


def placement(environment: Environment) -> list[tuple[str, str]]:
    """Lines for the table of the machine; none for a result that does not say."""
    found = environment.placement
    if found is None:
        return []
    given = f"{_cores(found.server)}; load generator: {_cores(found.generator)}" + (f" ({found.shared})" if found.shared else "")
    memory = units.size(found.memory_bytes) if found.memory_bytes is not None else "not limited"
    return [("cores of each store while it is measured", given), ("memory of each store", memory)]


def _cores(numbers: list[int]) -> str:
    return f"{units.plural(len(numbers), 'core')} ({', '.join(map(str, numbers))})"
