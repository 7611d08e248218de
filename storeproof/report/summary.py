"""The one screen that ends a run in the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from storeproof import units
from storeproof.outcome import Outcome
from storeproof.report import formatting, tables
from storeproof.report.axes import setting
from storeproof.result.model import Measurement, Result, StoreResult

HEADLINES = ("hash10-put", "hash10-get", "nested-put", "single-get", "document10-insert-1", "row-get")
"""What is shown where it was measured: first the ten-field hash, the question the project began with."""

_BLOCKS = 4
"""Up to so many stores get a few lines each; more get one line each, so that all stay on one screen."""

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
_VERDICTS = {"conforms": "green", "does_not_conform": "bold red", "incomplete": "yellow"}


def print_summary(result: Result, report: Path | None, console: Console) -> None:
    """Print what was found for each store and variant, and where the report is; None: there is no file to name."""
    run = result.run
    meaning = formatting.SCALES.get(run.scale, "")
    title = Text.assemble(
        ("storeproof ", "bold"),
        (f" {run.scale.upper()} ", "bold reverse"),
        f" {meaning} · edition {result.edition.version} · seed {run.seed} · {units.seconds(run.seconds)}",
    )
    console.print(title)
    if not result.stores:
        console.print("No store was run.", style="yellow")
    elif len(result.stores) <= _BLOCKS:
        for store in result.stores:
            console.print(_block(store))
    else:
        console.print(_lines(result, console.width))
        for line in _verdicts(result):
            console.print(line)
    if report is not None:
        console.print(Text.assemble("report  ", (str(report), "bold")), soft_wrap=True)


def _block(store: StoreResult) -> Table:
    """A few lines for one store."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    launched = f" · {store.launch}" if store.launch else ""
    grid.add_row("store", Text.assemble((formatting.name_of(store), "bold"), (f" · {store.version or 'never reached'}{launched}", "dim")))
    grid.add_row("correct", _join([*_counts(store), *_capabilities(store)]))
    grid.add_row("durable", _durability(store))
    grid.add_row("fast", _speed(store))
    if store.profiles:
        verdicts = [
            Text.assemble(f"{each.profile} ", (formatting.VERDICTS[each.verdict], _VERDICTS[each.verdict])) for each in store.profiles
        ]
        grid.add_row("profiles", _join(verdicts))
    grid.add_row("", "")
    return grid


def _counts(store: StoreResult) -> list[Text]:
    """Every count that is not zero, the worst first."""
    found = [Text(f"{number} {outcome}", _STYLES[outcome]) for outcome in Outcome if (number := store.counts.get(outcome, 0))]
    return found or [Text("nothing was run", "yellow")]


def _capabilities(store: StoreResult) -> list[Text]:
    claimed = [each for each in store.capabilities if each.claimed]
    passed = sum(each.outcome is Outcome.PASS for each in claimed)
    return [Text(f"{passed} of {len(claimed)} claimed capabilities", "" if passed == len(claimed) else "yellow")] if claimed else []


def _durability(store: StoreResult) -> Text:
    durability = store.durability
    proven = tables.proven_cell(store)
    shown = Text(f"proven {proven.text}" if durability.proven else proven.text, _TONES[proven.tone])
    parts = [Text(f"claimed {durability.claimed}"), shown]
    parts += [
        Text(f"{each.guarantee}: {lost}", "red" if each.outcome is Outcome.FAIL else "")
        for each in durability.guarantees
        if (lost := tables.losses(each))
    ]
    recoveries = [value for each in durability.guarantees for value in each.recovery_seconds]
    if recoveries:
        parts.append(Text(f"back in {units.seconds(median(recoveries))}", "dim"))
    return _join(parts)


def _speed(store: StoreResult) -> Text:
    if not store.measurements:
        return Text("not measured", "yellow")
    parts = [
        Text.assemble(f"{each.workload} ", (_rate(each), "red" if _invalid(each) else "bold")) for each in _headlines(store, HEADLINES[:4])
    ]
    invalid = sum(_invalid(each) for each in store.measurements)
    failing = f", {invalid} fail a gate" if invalid else ""
    parts.append(Text(f"{units.plural(len(store.measurements), 'number')}{failing}", "yellow" if invalid else "dim"))
    return _join(parts)


def _lines(result: Result, width: int) -> Table:
    """One line for each store, with as many headline speeds as fit."""
    measured = {each.workload for store in result.stores for each in store.measurements}
    names = [name for name in HEADLINES if name in measured][: max(1, (width - 56) // 13)]
    table = Table(box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("store:variant", overflow="fold", max_width=26)
    for heading in ("passed", "bad", "caps"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("proven", no_wrap=True)
    for name in names:
        table.add_column(f"{name}/s", justify="right", max_width=12, overflow="fold")
    for store in result.stores:
        bad = store.counts.get(Outcome.FAIL, 0) + store.counts.get(Outcome.ERROR, 0)
        claimed = [each for each in store.capabilities if each.claimed]
        proven = tables.proven_cell(store)
        chosen = {each.workload: each for each in _headlines(store, names)}
        rates = [
            Text(_rate(chosen[name], brief=True), "red" if _invalid(chosen[name]) else "") if name in chosen else Text("–")
            for name in names
        ]
        table.add_row(
            Text(formatting.name_of(store), "bold"),
            f"{store.counts.get(Outcome.PASS, 0)}/{len(store.outcomes)}",
            Text(str(bad), "bold red" if bad else "dim"),
            f"{sum(each.outcome is Outcome.PASS for each in claimed)}/{len(claimed)}",
            Text(proven.text + {"good": "", "bad": " ✘", "open": " ○"}[proven.tone], _TONES[proven.tone]),
            *rates,
        )
    table.caption = (
        "bad: fail + error · caps: claimed capabilities passed · durability short of the claim: ✘ refuted, ○ not shown · "
        "speed: ✘ fails a gate of its validity"
    )
    table.caption_justify = "left"
    table.caption_style = "dim"
    return table


def _verdicts(result: Result) -> list[Text]:
    """One line for each profile and verdict."""
    found: dict[tuple[str, str], list[str]] = {}
    for store in result.stores:
        for each in store.profiles:
            found.setdefault((each.profile, each.verdict), []).append(formatting.name_of(store))
    return [
        Text.assemble(f"{profile} ", (formatting.VERDICTS[case_result], _VERDICTS[case_result]), f": {', '.join(names)}")
        for (profile, case_result), names in sorted(found.items())
    ]


def _headlines(store: StoreResult, names: Iterable[str]) -> list[Measurement]:
    """For each workload its plainest measurement: as it is, with fewest indexes, and the number of clients that delivered most."""
    chosen = []
    for name in names:
        of_name = [each for each in store.measurements if each.workload == name and not setting(each)]
        if of_name:
            plainest = min(each.indexes for each in of_name)
            chosen.append(max((each for each in of_name if each.indexes == plainest), key=lambda each: each.throughput.median))
    return chosen


def _invalid(measured: Measurement) -> bool:
    return not measured.verified or any(not gate.ok for gate in measured.gates.values())


def _rate(measured: Measurement, *, brief: bool = False) -> str:
    """The median with its spread; a number that fails a gate says so."""
    spread = measured.throughput
    sign = " ✘" if _invalid(measured) else ""
    if brief:
        half = (spread.high - spread.low) / 2 / spread.median * 100 if spread.median else 0.0
        return f"{units.short(spread.median)} ±{half:.0f}%{sign}"
    return f"{units.short(spread.median)}/s [{units.short(spread.low)}, {units.short(spread.high)}]{sign}"


def _join(parts: Iterable[Text]) -> Text:
    return Text(" · ").join(parts)
