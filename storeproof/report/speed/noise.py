"""The noise floor of each kind of workload, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import ceil

from storeproof import units
from storeproof.report.tables import Cell, Table
from storeproof.result.model import Result
from storeproof.result.ratios.noise import KindNoise, noise_of


def kinds_of(result: Result) -> list[KindNoise]:
    """The kinds of a result, in the order of its measurements."""
    return list(noise_of(result).values())


def below(factor: float) -> str:
    """How far two numbers may be apart by chance: `9 %`, rounded up."""
    return f"{ceil(100 * (factor - 1) - 1e-9):,} %"


def floors_of(kinds: Iterable[KindNoise]) -> dict[str, float]:
    """The factors by kind, each for the fewest rounds."""
    return {each.kind: each.floor for each in kinds}


def in_words(floors: Mapping[str, float]) -> str:
    """`differences below 9 % (value-read), 12 % (scan, mixed) are noise`, of factors by kind; empty without any."""
    shares: dict[str, list[str]] = {}
    for kind, factor in sorted(floors.items(), key=lambda item: item[1]):
        shares.setdefault(below(factor), []).append(kind)
    if len(shares) == 1:
        return f"differences below {next(iter(shares))} are noise"
    parts = [f"{share} ({', '.join(names)})" for share, names in shares.items()]
    return f"differences below {', '.join(parts)} are noise" if parts else ""


def noise(result: Result) -> Table:
    kinds = kinds_of(result)
    laps = any(each.between is not None for each in kinds)
    rows = [
        [
            Cell(each.kind, "strong"),
            Cell(f"differences below {below(each.floor)} are noise"),
            Cell(str(each.fewest)),
            Cell(units.whole(each.measurements)),
            Cell(_share(each.deviation)),
            *([Cell(_share(each.between)), Cell(_share(each.between_starts))] if laps else []),
        ]
        for each in kinds
    ]
    header = (
        *("kind of workload", "noise floor", "with rounds", "numbers", "scatter between rounds"),
        *(["between laps", "of these, between starts of a server"] if laps else []),
    )
    return Table(header, rows, "No number has a scatter that could be pooled.", frozenset(range(2, len(header))))


def _share(deviation: float | None) -> str:
    return "–" if deviation is None else f"{deviation:.1%}".replace("%", " %")
