"""Shows a comparison in the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from storeproof import units
from storeproof.report import formatting
from storeproof.report.axes import setting
from storeproof.result.compare import Comparison, Pair, Side
from storeproof.result.measurement import Measurement
from storeproof.stats.ratio import METHOD, PAIRED_METHOD


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Print every pair: its ratio, or why there is none."""
    console.print(_render(comparison))


def _render(comparison: Comparison) -> RenderableType:
    compared = [pair for pair in comparison.pairs if pair.ratio is not None]
    refused = [pair for pair in comparison.pairs if pair.ratio is None]
    parts: list[RenderableType] = [_side("A", comparison.a), _side("B", comparison.b)]
    if compared:
        parts.append(_ratios(compared))
        parts += _failing(compared)
    parts += _refusals(refused)
    parts += _lonely("A", comparison.only_a) + _lonely("B", comparison.only_b)
    if not comparison.pairs:
        parts.append(Text("No workload was measured on both sides.", "yellow"))
    if compared:
        methods = "; or ".join(sorted({PAIRED_METHOD if pair.paired else METHOD for pair in compared}))
        parts.append(Text(f"A/B: {methods}. Above 1, A is faster.", "dim"))
        parts += _noise(compared[0].noise)
    lonely = len(comparison.only_a) + len(comparison.only_b)
    parts.append(Text(f"{len(compared)} compared, {len(refused)} refused, {lonely} without a partner"))
    return Group(*parts)


def _side(letter: str, side: Side) -> Text:
    store, run = side.store, side.result.run
    cited = store.durability.cited
    source = f" (cited from run {cited.run}, scale {cited.scale})" if cited is not None else ""
    return Text.assemble(
        (f"{letter}  {side.name}", "bold"),
        f"  {store.version or 'never reached'}, durability proven: {store.durability.shown}{source}, scale {run.scale}, run {run.id}",
    )


def _ratios(pairs: Iterable[Pair]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("workload", no_wrap=True)
    for heading in ("clients", "idx", "with", "A /s", "B /s", "A/B [95 %]"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", min_width=10)
    for pair in pairs:
        if pair.ratio is None:
            continue
        ratio = pair.ratio
        table.add_row(
            pair.a.workload,
            str(pair.a.clients),
            str(pair.a.indexes),
            setting(pair.a) or "–",
            _rate(pair, "A"),
            _rate(pair, "B"),
            Text(f"{ratio.middle:.2f}× [{ratio.low:.2f}, {ratio.high:.2f}]", "dim" if pair.verdict else "bold"),
            pair.verdict,
        )
    return table


def _rate(pair: Pair, letter: str) -> Text:
    measured = pair.a if letter == "A" else pair.b
    failing = any(gate.startswith(letter) for gate in pair.failing)
    return Text(units.short(measured.throughput.median) + (" ✘" if failing else ""), "red" if failing else "")


def _failing(pairs: Iterable[Pair]) -> list[RenderableType]:
    """Which gates the numbers marked ✘ fail."""
    found = [f"{_label(pair.a)} {', '.join(pair.failing)}" for pair in pairs if pair.failing]
    return [Text(f"✘ fails gates of its own validity: {'; '.join(found)}", "red")] if found else []


def _noise(factor: float) -> list[RenderableType]:
    """How far apart figures of the same thing are on these machines, where that was measured."""
    return [Text(f"noise floor of the machine: {factor:.3f}×; what is nearer to 1 shows no difference", "dim")] if factor > 1 else []


def _refusals(pairs: list[Pair]) -> list[RenderableType]:
    """The reasons; one that holds for every pair is said once."""
    if not pairs:
        return []
    common = [reason for reason in pairs[0].refused if all(reason in pair.refused for pair in pairs)]
    alike = [pair for pair in pairs if len(pair.refused) == len(common)]
    found: list[RenderableType] = []
    if common:
        found.append(Text.assemble((f"refused, all {len(pairs)}: " if len(pairs) > 1 else "refused: ", "bold yellow"), "; ".join(common)))
    if alike:
        found.append(Text.assemble(("refused: ", "yellow"), ", ".join(_label(pair.a) for pair in alike)))
    for pair in pairs:
        if pair not in alike:
            own = "; ".join(reason for reason in pair.refused if reason not in common)
            found.append(Text.assemble(("refused: ", "yellow"), f"{_label(pair.a)}: {own}"))
    return found


def _lonely(letter: str, measured: Iterable[Measurement]) -> list[RenderableType]:
    names = [_label(each) for each in measured]
    return [Text(f"only in {letter}: {', '.join(names)}", "yellow")] if names else []


def _label(measured: Measurement) -> str:
    how = filter(None, (units.plural(measured.clients, "client"), formatting.indexes(measured.indexes), setting(measured)))
    return f"{measured.workload} ({', '.join(how)})"
