"""A comparison in a file: JSON for programs, Markdown for a wiki, HTML for a browser."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from storeproof.errors import UsageError
from storeproof.printable import printable
from storeproof.report.comparison.content import ComparedContent
from storeproof.report.markdown import cell_of, table_of
from storeproof.report.parts.rendering import whole_page
from storeproof.result.compare import Comparison, Pair, Side
from storeproof.result.json_file import write_whole
from storeproof.result.measurement import Measurement
from storeproof.result.ratios.across_disks import WaitRatio, waits_of
from storeproof.result.ratios.agreement import Agreement, Twice
from storeproof.stats.ratio import Ratio

FORMATS: Final = (".json", ".md", ".html")


def check(path: Path) -> None:
    """Refuse a name that says no format, before anything is compared. Raises `UsageError`: with those that there are."""
    if path.suffix not in FORMATS:
        raise UsageError(f"{path}: the name of the file ends with one of {', '.join(FORMATS)}")


def write(path: Path, data: Any, contents: Sequence[ComparedContent]) -> None:
    """Write the file in the format that its name says: `data` as JSON, or the contents.
    Raises `UsageError`: the name says no format, or the file cannot be written."""
    check(path)
    if path.suffix == ".json":
        text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    else:
        text = printable(_markdown(contents)) if path.suffix == ".md" else whole_page("comparison/comparison.html.j2", contents=contents)
    try:
        write_whole(path, text)
    except OSError as reason:
        raise UsageError(f"{path} cannot be written: {reason}; name another with --output") from None


def comparison_data(comparison: Comparison) -> dict[str, Any]:
    """All of a comparison. `bound`: `≥` or `≤` where the ratio is an inequality; `noise`: the factor below which a difference is noise."""
    return {
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "pairs": [_pair(pair) for pair in comparison.pairs],
        "only_a": [_number(each) for each in comparison.only_a],
        "only_b": [_number(each) for each in comparison.only_b],
    }


def across_data(comparison: Comparison) -> dict[str, Any]:
    """All of a comparison of two disks, with the mean waits by kind of I/O, in microseconds."""
    found = comparison_data(comparison)
    for pair, data in zip(comparison.pairs, found["pairs"], strict=True):
        data["waits"] = [_wait(each) for each in waits_of(pair)]
    return found


def agreement_data(found: Agreement, a: Side, b: Side) -> dict[str, Any]:
    """How far two runs agree, and by how much the numbers differ that do not."""
    return {
        "a": {"run": a.result.run.id, "started": a.result.run.started},
        "b": {"run": b.result.run.id, "started": b.result.run.started},
        "refused": list(found.refused),
        "kinds": [{"kind": each.kind, "numbers": len(each.numbers), "agree": each.agreeing} for each in found.kinds],
        "numbers": len(found.numbers),
        "agree": sum(each.agrees for each in found.numbers),
        "not_valid": found.not_valid,
        "drifting": found.drifting,
        "without_partner": found.alone,
        "apart": [_twice(each) for each in found.numbers if not each.agrees],
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "store": side.name,
        "version": side.store.version,
        "durability_proven": side.store.durability.shown,
        "scale": side.result.run.scale,
        "run": side.result.run.id,
    }


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "a": _number(pair.a),
        "b": _number(pair.b),
        "ratio": _ratio(pair.ratio),
        "bound": pair.bound,
        "paired": pair.paired,
        "noise": pair.noise,
        "faster": pair.faster,
        "verdict": pair.verdict,
        "refused": list(pair.refused),
    }


def _wait(found: WaitRatio) -> dict[str, Any]:
    return {"kind": found.kind, "a": found.a, "b": found.b, "ratio": _ratio(found.ratio), "refused": found.refused}


def _ratio(ratio: Ratio | None) -> dict[str, float] | None:
    return None if ratio is None else {"middle": ratio.middle, "low": ratio.low, "high": ratio.high}


def _twice(number: Twice) -> dict[str, Any]:
    return {"store": number.store, "a": _number(number.a), "b": _number(number.b), "factor": number.factor, "noise": number.noise}


def _number(measured: Measurement) -> dict[str, Any]:
    fields = ("workload", "kind", "record", "indexes", "clients", "pipeline", "rate", "grade", "at_least", "invalid")
    return {
        **{field: getattr(measured, field) for field in fields},
        "median": measured.throughput.median,
        "low": measured.throughput.low,
        "high": measured.throughput.high,
        "unit": measured.throughput.unit,
        "rounds": len(measured.rounds),
        "drifting": measured.trend.drifting,
    }


def _markdown(contents: Sequence[ComparedContent]) -> str:
    parts = []
    for content in contents:
        parts.append(f"## {cell_of(content.title)}")
        parts += ["\n".join(f"* {cell_of(line)}" for line in content.about), table_of(content.table)]
        parts += [f"**{cell_of(note.text)}**" if note.tone == "strong" else cell_of(note.text) for note in content.notes]
    return "\n\n".join(part for part in parts if part) + "\n"
