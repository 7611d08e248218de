"""What a comparison says, made once for the screen and for every format of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from storeproof import units
from storeproof.report import formatting
from storeproof.report.axes import setting
from storeproof.report.speed import noise, numbers
from storeproof.report.speed.ratios import ratio_text
from storeproof.report.tables import Cell, Table, sheet_in_words
from storeproof.result.compare import Comparison, Pair, Side
from storeproof.result.measurement import Measurement
from storeproof.result.ratios.across_disks import on_one_disk, waits_of
from storeproof.result.ratios.agreement import Agreement, OfKind, Twice
from storeproof.result.ratios.noise import kind_of
from storeproof.stats.ratio import METHOD, PAIRED_METHOD


@dataclass(frozen=True)
class ComparedLine:
    """A sentence below a table, and how it is meant: `dim`, `open`, `strong` or nothing."""

    text: str
    tone: str = ""


@dataclass(frozen=True)
class ComparedContent:
    """A table between sentences."""

    title: str
    about: Sequence[str]
    table: Table
    notes: Sequence[ComparedLine]


def of_comparison(comparison: Comparison) -> ComparedContent:
    """Every pair: its ratio, or why there is none."""
    compared = [pair for pair in comparison.pairs if pair.ratio is not None]
    lonely = len(comparison.only_a) + len(comparison.only_b)
    notes = [*_refusals(pair for pair in comparison.pairs if pair.ratio is None)]
    notes += [*_lonely("A", comparison.only_a), *_lonely("B", comparison.only_b)]
    if on_one_disk(comparison.a, comparison.b):
        names = f"{comparison.a.store.disk} and {comparison.b.store.disk}"
        notes.append(ComparedLine(f"{names} are directories of one file system: what differs between them is noise", "open"))
    if not comparison.pairs:
        notes.append(ComparedLine("No workload was measured on both sides.", "open"))
    if compared:
        methods = "; or ".join(sorted({PAIRED_METHOD if pair.paired else METHOD for pair in compared}))
        notes.append(ComparedLine(f"A/B: {methods}. Above 1, A is faster. 50c, 1i: 50 clients, one index. {numbers.LEGEND}", "dim"))
        floors: dict[str, float] = {}
        for pair in compared:
            kind = kind_of(pair.a)
            floors[kind] = max(floors.get(kind, 1.0), pair.noise)
        notes.append(ComparedLine(f"noise floor: {noise.in_words(floors)}", "dim"))
    paired = sum(pair.paired for pair in compared)
    counted = f"{len(compared)} compared, {paired} of them paired by block, {len(comparison.pairs) - len(compared)} refused"
    notes.append(ComparedLine(f"{counted}, {lonely} without a partner", "strong"))
    title = f"{comparison.a.name} and {comparison.b.name}"
    about = [line for letter, side in (("A", comparison.a), ("B", comparison.b)) for line in (_side(letter, side), *_disk(letter, side))]
    return ComparedContent(title, about, _ratios(compared), notes)


def of_waits(comparison: Comparison) -> ComparedContent | None:
    """How long one store waited for its I/O on two disks, by kind; None where that was not watched."""
    found = [(pair, each) for pair in comparison.pairs for each in waits_of(pair)]
    if not found:
        return None
    rows = [
        [
            Cell(f"{pair.a.workload} ({_how(pair.a)}): {each.kind.replace('_', ' ')}", "strong"),
            Cell(units.micros(each.a)),
            Cell(units.micros(each.b)),
            Cell("–" if each.ratio is None else ratio_text(each.ratio), "dim" if each.ratio is None else "", hint=each.refused),
        ]
        for pair, each in found
    ]
    why: dict[str, list[str]] = {}
    for _, each in found:
        if each.refused:
            why.setdefault(each.refused, []).append(each.kind.replace("_", " "))
    notes = [ComparedLine(f"no ratio of {', '.join(dict.fromkeys(kinds))}: {reason}", "open") for reason, kinds in why.items()]
    notes.append(ComparedLine(f"A/B: {PAIRED_METHOD}. Above 1, A is waited for longer.", "dim"))
    table = Table(("mean wait", "A", "B", "A/B [95 %]"), rows, "", frozenset({1, 2, 3}))
    return ComparedContent(f"{comparison.a.name} and {comparison.b.name}: waits by kind of I/O", [], table, notes)


def of_agreement(found: Agreement, a: Side, b: Side) -> ComparedContent:
    """How many numbers of one plan agree in two runs, by kind of workload."""
    rows = [_kind(each.kind, [each]) for each in found.kinds]
    if len(found.kinds) > 1:
        rows.append(_kind("all", found.kinds))
    header = ("kind of workload", "numbers", "agree", "share", "noise floor", "farthest apart")
    table = Table(header, rows, "No number was compared.", frozenset(range(1, 6)))
    apart = [each for each in found.numbers if not each.agrees]
    notes = [ComparedLine(f"refused: {reason}", "open") for reason in found.refused]
    if apart:
        notes.append(ComparedLine("beyond the noise floor: " + "; ".join(_twice(each) for each in apart)))
    if not found.refused:
        agreeing, every = len(found.numbers) - len(apart), len(found.numbers)
        share = f" ({units.share(agreeing / every)})" if every else ""
        notes.append(
            ComparedLine(
                "Two medians of the same thing are within the noise floor of their kind in 19 of 20 cases, if only rounds differ.",
                "dim",
            )
        )
        notes.append(
            ComparedLine(
                f"{agreeing} of {units.plural(every, 'number')} agree{share}; not compared: {found.not_valid} not valid, "
                f"{found.drifting} drifting, {found.alone} without a partner",
                "strong",
            )
        )
    if ratios := found.ratios:
        agreeing = sum(each.agrees for each in ratios)
        notes.append(
            ComparedLine(
                f"{agreeing} of {units.plural(len(ratios), 'ratio')} of two stores agree ({units.share(agreeing / len(ratios))}); "
                "a machine that is slower in one of the runs is in the numbers of all stores, and in no ratio",
                "strong",
            )
        )
    about = [
        f"{letter}  run {side.result.run.id}, {side.result.run.started}, scale {side.result.run.scale}{_machine(side)}"
        for letter, side in (("A", a), ("B", b))
    ]
    return ComparedContent("Two runs of the same plan", about, table, notes)


def label(measured: Measurement) -> str:
    """A workload and how it was measured."""
    how = filter(None, (units.plural(measured.clients, "client"), formatting.indexes(measured.indexes), setting(measured)))
    return f"{measured.workload} ({', '.join(how)})"


def rate(measured: Measurement) -> str:
    """`≥ 65.5k B`."""
    return f"{numbers.at_least(measured)}{units.short(measured.throughput.median)} {numbers.mark(measured)}"


def _side(letter: str, side: Side) -> str:
    store, run = side.store, side.result.run
    reached = store.product
    cited = store.durability.cited
    source = f" (cited from run {cited.run}, scale {cited.scale})" if cited is not None else ""
    return f"{letter}  {side.name}, {reached}, durability proven: {store.durability.shown}{source}, scale {run.scale}, run {run.id}"


def _disk(letter: str, side: Side) -> Iterator[str]:
    """The data sheet of its disk, where one was named."""
    name = side.store.disk or ""
    if sheet := side.result.environment.disks.get(name):
        yield f"{letter}  disk {name}: {sheet_in_words(sheet)}"


def _machine(side: Side) -> str:
    """What is known of the machine's own speed: the baseline of the run, and how many numbers are from slower moments."""
    measured = [each for store in side.result.stores for each in store.measurements]
    baselines = [each.machine_speed.baseline for each in measured if each.machine_speed is not None]
    if not baselines:
        return ""
    slow = units.plural(sum(map(numbers.on_slow_machine, measured)), "number")
    return f", reference load {units.short(max(baselines))}/s, {slow} on a slow machine"


def _ratios(pairs: Iterable[Pair]) -> Table:
    rows = [
        [
            Cell(f"{pair.a.workload} ({_how(pair.a)})", "strong"),
            Cell(rate(pair.a)),
            Cell(rate(pair.b)),
            Cell(ratio_text(pair.ratio, pair.bound), "strong" if pair.faster else "dim"),
            Cell(_shown(pair), "" if pair.faster else "dim", hint=pair.verdict),
        ]
        for pair in pairs
        if pair.ratio is not None
    ]
    return Table(("workload", "A /s", "B /s", "A/B [95 %]", "shown"), rows, "", frozenset({1, 2, 3}))


def _how(measured: Measurement) -> str:
    return ", ".join(filter(None, (f"{measured.clients}c", f"{measured.indexes}i", setting(measured))))


def _shown(pair: Pair) -> str:
    """What the ratio shows, in a word or two."""
    if pair.faster:
        return f"{pair.faster} faster"
    if pair.verdict.endswith("noise of its kind"):
        return f"noise < {noise.below(pair.noise)}"
    return "no difference" if pair.verdict == "no difference shown" else f"{'A' if pair.bound == '≥' else 'B'} was limited"


def _refusals(pairs: Iterable[Pair]) -> Iterable[ComparedLine]:
    """The reasons; what several have in common is said once."""
    of_reason: dict[tuple[str, ...], list[str]] = {}
    for pair in pairs:
        of_reason.setdefault(pair.refused, []).append(label(pair.a))
    common = set.intersection(*map(set, of_reason)) if of_reason else set()
    count = sum(map(len, of_reason.values()))
    if common and count > 1:
        first = next(iter(of_reason))
        yield ComparedLine(f"refused, all {count}: {'; '.join(reason for reason in first if reason in common)}", "open")
    for reasons, labels in of_reason.items():
        own = "; ".join(reason for reason in reasons if count == 1 or reason not in common)
        yield ComparedLine(f"refused: {', '.join(labels)}" + (f": {own}" if own else ""), "open")


def _lonely(letter: str, measured: Sequence[Measurement]) -> Iterable[ComparedLine]:
    counts = Counter(each.workload for each in measured)
    names = [workload if count == 1 else f"{workload} ({count} numbers)" for workload, count in counts.items()]
    return [ComparedLine(f"only in {letter}: {', '.join(names)}", "open")] if names else []


def _kind(name: str, kinds: Sequence[OfKind]) -> Sequence[Cell]:
    every = [each for kind in kinds for each in kind.numbers]
    agreeing = sum(each.agrees for each in every)
    floors = sorted({noise.below(each.noise) for each in every}, key=lambda text: int(text.split()[0].replace(",", "")))
    return [
        Cell(name, "strong"),
        Cell(str(len(every))),
        Cell(str(agreeing)),
        Cell(units.share(agreeing / len(every))),
        Cell(floors[0] if len(floors) == 1 else f"{floors[0].split()[0]} to {floors[-1]}"),
        Cell(noise.below(max(each.factor for each in every))),
    ]


def _twice(number: Twice) -> str:
    rates = " against ".join(f"{numbers.at_least(each)}{units.short(each.throughput.median)}/s" for each in (number.a, number.b))
    return f"{number.store} {label(number.a)} {rates}, {100 * (number.factor - 1):.1f} % apart, floor {100 * (number.noise - 1):.1f} %"
