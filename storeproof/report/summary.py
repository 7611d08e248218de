"""The screen that ends a run in the terminal: what each store answers, what it keeps, how fast it is, and what to run next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Final, get_args

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from storeproof import units
from storeproof.outcome import SHOWN, Outcome
from storeproof.printable import shortened
from storeproof.report import formatting, tables
from storeproof.report.axes import setting
from storeproof.report.parts.losses import harm_of
from storeproof.report.parts.roles import role_of
from storeproof.report.resources.anatomy import sentences
from storeproof.report.speed import noise, numbers
from storeproof.result.measurement import Measurement
from storeproof.result.model import Result, RunInfo, StoreResult
from storeproof.result.needs.servers import tried
from storeproof.run_command import RunCommand
from storeproof.spec.workload import Kind
from storeproof.support import Support

_KINDS: Final[Sequence[str]] = get_args(Kind)
"""In their order. Where there are several stores, as many of them have a column as fit."""
_ROWS = 14
"""Kinds that have a line, at most; results of older editions name none, and each workload is its own."""
_FAILURES = 3
"""Failed cases that are named; the report has all of them."""
_OPEN = 2
"""Inconclusive cases that are named."""
_NAME = 32
"""Columns of a store's name and variant."""
_RATE = 14
"""Columns of a rate with its interval and grade."""
_NAMES = 6
"""The same for stores that conform to a profile."""
_COMMAND = 40
"""Columns for a command beside which it is said what it does; a longer one takes what it needs."""
_NARROW = 80

_STYLES = {
    Outcome.ERROR: "bold red",
    Outcome.FAIL: "bold red",
    Outcome.INCONCLUSIVE: "yellow",
    Outcome.NOT_RUN: "yellow",
    Outcome.KNOWN_FAIL: "yellow",
    Outcome.UNSUPPORTED: "dim",
    Outcome.EXCLUDED: "dim",
    Outcome.UNDECLARED: "cyan",
    Outcome.PASS: "green",
}
_TONES = {"good": "green", "bad": "bold red", "open": "yellow"}


def print_summary(result: Result, report: Path | None, console: Console) -> None:
    """Print what was found for each store and variant, and where the report is; None: there is no file to name."""
    run = result.run
    title = Text.assemble(("storeproof ", "bold"), (f" {run.scale.upper()} ", "bold reverse"), f" {formatting.SCALES.get(run.scale, '')}")
    console.print(title)
    console.print(Text(f"edition {result.edition.version} · seed {run.seed} · {units.seconds(run.seconds)}", "dim"))
    if not result.stores:
        console.print("No store was run.", style="yellow")
    elif len(result.stores) == 1:
        console.print(_one(result.stores[0], run))
    else:
        console.print(_several(result, console.width))
        console.print(_notes(result, console.width))
    for line in sentences([(store, each) for store in result.stores for each in store.measurements]):
        console.print(Text(f"i/o     {line}"), soft_wrap=True)
    console.print(_next(run, report), soft_wrap=True)


def _one(store: StoreResult, run: RunInfo) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="dim", no_wrap=True, width=7)
    grid.add_column()
    launched = f" · {store.launch}" if store.launch else ""
    grid.add_row("store", Text.assemble((formatting.name_of(store), "bold"), (f" · {store.product}{launched}", "dim")))
    for label, lines in (
        ("answers", _answers(store)),
        ("cases", _cases(store)),
        ("keeps", _durability(store)),
        ("roles", _roles(store)),
        ("speed", [*_speeds(store.measurements), *_coverage([store], run)]),
    ):
        for number, line in enumerate(lines):
            grid.add_row("" if number else label, line)
    return grid


def _answers(store: StoreResult) -> list[Text]:
    """Capabilities that were shown, of all that there are."""
    if not store.capabilities:
        return []
    if not tried(store):
        return [Text(_untried(store), "dim")]
    shown, claimed = _shown(store), sum(each.claimed for each in store.capabilities)
    return [Text(f"{shown} of {len(store.capabilities)} capabilities; {claimed} claimed", "" if shown >= claimed else "yellow")]


def _cases(store: StoreResult) -> list[Text]:
    """The outcomes of all cases; the first that failed."""
    counts = [
        Text(f"{number} {outcome.replace('_', ' ')}", _STYLES[outcome]) for outcome in Outcome if (number := store.counts.get(outcome, 0))
    ]
    lines = [_join(counts) if counts else Text("nothing was run", "yellow")]
    failed = [each for each in store.outcomes if each.is_failure]
    lines += [_short(f"{formatting.MARKS[each.outcome]} {each.id}: {each.detail}", _STYLES[each.outcome]) for each in failed[:_FAILURES]]
    if len(failed) > _FAILURES:
        lines.append(Text(f"and {len(failed) - _FAILURES} more: see the report", "bold red"))
    undecided = [each for each in store.outcomes if each.outcome is Outcome.INCONCLUSIVE]
    lines += [_short(f"{formatting.MARKS[each.outcome]} {each.id}: {each.detail}", "yellow") for each in undecided[:_OPEN]]
    if len(undecided) > _OPEN:
        lines.append(Text(f"and {len(undecided) - _OPEN} more inconclusive: see the report", "yellow"))
    standing = [each for each in store.outcomes if each.outcome is Outcome.FAIL and not each.decides]
    lines += [_short(f"{each.standing}, decides nothing: {each.id}: {each.detail}", "yellow") for each in standing[:_FAILURES]]
    return lines


def _durability(store: StoreResult) -> list[Text]:
    """What is claimed and what was shown; then what each fault cost."""
    durability = store.durability
    proven = tables.proven_cell(store)
    lines = [
        _join(
            [
                Text(f"claimed {durability.claimed}"),
                Text(f"proven {proven.text}" if durability.proven else proven.text, _TONES[proven.tone]),
            ]
        )
    ]
    struck = [each for each in durability.guarantees if each.rounds]
    harmed = [each for each in struck if harm_of(each)]
    lines += [Text(f"{each.guarantee}: {harm_of(each)}", "red" if each.outcome is Outcome.FAIL else "yellow") for each in harmed]
    if struck and not harmed:
        writes, faults = sum(each.acknowledged for each in struck), sum(each.rounds for each in struck)
        parts = [Text(f"0 of {units.whole(writes)} acknowledged writes lost in {units.plural(faults, 'fault')}")]
        if recoveries := [value for each in struck for value in each.recovery_seconds]:
            parts.append(Text(f"back in {units.seconds(median(recoveries))}", "dim"))
        lines.append(_join(parts))
    return lines


def _roles(store: StoreResult) -> list[Text]:
    """The profiles that the store meets, in which way, and how much it lacks of the others; then what it has of the extended parts."""
    met = [each.profile for each in store.profiles if each.verdict == "conforms"]
    others = [each for each in store.profiles if each.verdict != "conforms"]
    lines = [Text(f"meets {', '.join(met)}", "green")] if met else []
    if refuted := [f"{each.profile} {role_of(each).text}" for each in others if each.verdict == "does_not_conform"]:
        lines.append(Text(", ".join(refuted), "yellow"))
    if unknown := [each.profile for each in others if each.verdict == "incomplete"]:
        lines.append(Text(f"not shown in this run: {', '.join(unknown)}", "dim"))
    ways: dict[str, list[str]] = {}
    for verdict in store.profiles:
        for way in verdict.ways:
            ways.setdefault(way.words, []).append(verdict.profile)
    lines += [Text(f"{', '.join(profiles)}: met by {way}", "dim") for way, profiles in ways.items()]
    beyond = {each.profile: list(each.extended.values()) for each in store.profiles}
    if counted := [
        f"{name} {found.count(Support.SUPPORTED)}/{len(found)}" for name, found in beyond.items() if {*found} - {Support.NOT_SHOWN}
    ]:
        lines.append(Text(f"extended: {', '.join(counted)}", "dim"))
    return lines


def _speeds(measured: Sequence[Measurement]) -> list[Table | Text]:
    """A line for each kind of workload: its plainest measurement, with the 95 % interval of its rate, and its mark."""
    if not measured:
        return [Text("not measured", "yellow")]
    chosen = list(_plainest(measured).values())
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column()
    for each in chosen[:_ROWS]:
        spread = each.throughput
        between = f"[{units.short(spread.low)}, {units.short(spread.high)}]"
        rate = Text(f"{numbers.at_least(each)}{units.short(spread.median)}/s", "red" if each.invalid else "bold")
        if each.invalid:  # its interval says nothing, and the last line has all that broke
            others = f" +{len(each.invalid) - 1}" if len(each.invalid) > 1 else ""
            table.add_row(each.kind or "–", each.workload, rate, Text(f"✘ {each.invalid[0]}{others}", "red"))
        else:
            table.add_row(each.kind or "–", each.workload, rate, between, numbers.mark(each))
    more = len(chosen) - _ROWS
    return [table, Text(f"and {more} more: see the report", "dim")] if more > 0 else [table]


def _coverage(stores: Sequence[StoreResult], run: RunInfo) -> list[Text]:
    """How precise what was measured is, what of it is not valid, and what the scale leaves out."""
    measured = [each for store in stores for each in store.measurements]
    lines = []
    if run.beyond_scale:
        done = {each.workload for each in measured}
        beyond = {name.removeprefix("performance.") for name in run.beyond_scale if name.startswith("performance.")}
        rest = {name.partition("/")[0] for name in beyond} - done - {"outage"}
        what = f"{units.plural(len(done), 'workload')} measured; {len(rest)} more, all series and outages, at --scale=standard"
        lines.append(Text(what, "dim"))
    if measured:
        lines.append(Text(numbers.count(measured), "yellow" if any(each.invalid for each in measured) else ""))
    return lines


def _shown_kinds(result: Result, width: int) -> Sequence[str]:
    """The kinds of workloads that have a column: as many as have room beside the longest name."""
    there = {kind for store in result.stores for kind in _plainest(store.measurements)}
    kinds = [kind for kind in _KINDS if kind in there] or sorted(there)
    longest = max(len(formatting.name_of(store)) for store in result.stores)
    return kinds[: max(1, (width - min(longest, _NAME) - 36) // (_RATE + 1))]


def _several(result: Result, width: int) -> Table:
    """One line for each store, with the kinds of workloads that fit."""
    chosen = [_plainest(store.measurements) for store in result.stores]
    kinds = _shown_kinds(result, width)
    table = Table(box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("store:variant", overflow="fold", max_width=_NAME)
    for heading in ("answers", "failed"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("keeps", no_wrap=True)
    for kind in kinds:
        table.add_column(kind, justify="right", max_width=_RATE, overflow="fold")
    for store, plainest in zip(result.stores, chosen, strict=True):
        bad = sum(each.is_failure for each in store.outcomes)
        proven = tables.proven_cell(store)
        table.add_row(
            Text(formatting.name_of(store), "bold"),
            f"{_shown(store)}/{len(store.capabilities)}" if tried(store) else Text("cited" if store.cites else "not tried", "dim"),
            Text(str(bad), "bold red" if bad else "dim"),
            Text(proven.text + {"good": "", "bad": " ✘", "open": " ○"}[proven.tone], _TONES[proven.tone]),
            *(_rate(plainest.get(kind)) for kind in kinds),
        )
    return table


def _notes(result: Result, width: int) -> Table:
    """What the columns mean, who meets which profile, and how much was measured."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    met: dict[str, list[str]] = {}
    for store in result.stores:
        for each in store.profiles:
            if each.verdict == "conforms":
                met.setdefault(each.profile, []).append(f"{formatting.name_of(store)}{role_of(each).how}")
    for profile, names in sorted(met.items()):
        rest = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
        grid.add_row(profile, ", ".join(names[:_NAMES]) + rest)
    grid.add_row("answers", Text("capabilities shown, of all", "dim"))
    grid.add_row("failed", Text("cases that failed or ended in an error", "dim"))
    grid.add_row("keeps", Text("durability that was shown; ✘ a claim refuted, ○ a claim not shown", "dim"))
    grid.add_row("speed", Text(f"operations a second · {numbers.BRIEF}", "dim"))
    if words := _noise(result, width):
        grid.add_row("noise", Text(words, "dim"))
    for line in _coverage(result.stores, result.run):
        grid.add_row("", line)
    return grid


def _noise(result: Result, width: int) -> str:
    """The noise floor of the kinds that have a column, in words."""
    shown = _shown_kinds(result, width)
    return noise.in_words({kind: factor for kind, factor in noise.floors_of(noise.kinds_of(result)).items() if kind in shown})


def _next(run: RunInfo, report: Path | None) -> Text:
    """The commands that answer more, and where the report is."""
    commands = []
    if run.scale == "smoke":
        commands.append((_again(run.command), "numbers for decisions"))
    if "--store" not in run.command and "--needs" not in run.command:
        commands.append(("storeproof doctor", "which other stores can run here"))
    width = max((len(command) for command, _ in commands), default=0)
    lines = []
    for number, (command, what) in enumerate(commands):
        label = "" if number else "next"
        line = f"{command.ljust(min(width, _COMMAND))}  {what}"
        fits = len(line) <= _NARROW - 8
        lines.append(Text.assemble((f"{label:<8}", "dim"), command, (line.removeprefix(command) if fits else "", "dim")))
    if report is not None:
        lines.append(Text.assemble(("report  ", "dim"), (str(report), "bold")))
    return Text("\n").join(lines)


def _again(command: str) -> str:
    """What was typed, at the scale for decisions, and without what is only about this run."""
    typed = RunCommand.read(command)
    suites = [each for each in typed.suites if "::" not in each]
    return str(replace(typed, suites=suites, scale="standard", records=None, laps=None, seed=None, report_dir=None, keyword=None))


def _plainest(measured: Iterable[Measurement]) -> dict[str, Measurement]:
    """By kind the first workload's plainest measurement: as it is, with fewest indexes, and the number of clients that delivered most."""
    of_kind: dict[str, list[Measurement]] = {}
    for each in measured:
        found = of_kind.setdefault(each.kind or each.workload, [])
        if not found or found[0].workload == each.workload:
            found.append(each)
    order = {kind: place for place, kind in enumerate(_KINDS)}
    kinds = sorted(of_kind, key=lambda kind: order.get(kind, len(order)))
    return {kind: min(of_kind[kind], key=lambda each: (bool(setting(each)), each.indexes, -each.throughput.median)) for kind in kinds}


def _untried(store: StoreResult) -> str:
    """What stands for its answers where this run asked for none."""
    return f"cited, run {store.cites.run}" if store.cites else "not tried"


def _shown(store: StoreResult) -> int:
    return sum(each.outcome in SHOWN for each in store.capabilities)


def _rate(measured: Measurement | None) -> Text:
    """The median with its spread in percent and its grade; one that drifts or is not valid says so in place of the spread."""
    if measured is None:
        return Text("–", "dim")
    rate = f"{numbers.at_least(measured)}{units.short(measured.throughput.median)}"
    if measured.invalid:
        return Text(f"{rate} ✘", "red")
    if measured.trend.drifting:
        return Text(f"{rate} {measured.grade}\ndrifting", "yellow")
    return Text(f"{rate} ±{numbers.half_interval(measured):.0%} {measured.grade}")


def _short(text: str, style: str) -> Text:
    """In one line that fits."""
    return Text(shortened(" ".join(text.split()), _NARROW - 9), style)


def _join(parts: Iterable[Text]) -> Text:
    return Text(" · ").join(parts)
