"""`storeproof compare`."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from storeproof.errors import UsageError
from storeproof.report.compare import print_comparison
from storeproof.result.compare import Side, compare
from storeproof.result.json_file import read_result
from storeproof.result.model import Result
from storeproof.result.terminal_safe import shown_of


def compare_files(a: Path, b: Path | None, store: str | None, against: str | None) -> int:
    """Compare the results in the files; 0 if at least one pair has a ratio, else 1.

    Raises:
        UsageError: a file that cannot be read, or a store that is not in it.
    """
    left = shown_of(read_result(a))
    right = shown_of(read_result(b)) if b else left
    if b is None and (store is None or against is None):
        raise UsageError(f"with one file, name both sides: --store and --against, each one of {_names(left)}")
    console = Console()
    compared = False
    for position, (one, other) in enumerate(_sides(a, left, b or a, right, store, against)):
        if position:
            console.print()
        comparison = compare(one, other)
        print_comparison(comparison, console)
        compared |= any(pair.ratio is not None for pair in comparison.pairs)
    return 0 if compared else 1


def _sides(a: Path, left: Result, b: Path, right: Result, store: str | None, against: str | None) -> list[tuple[Side, Side]]:
    if against and not store:
        raise UsageError(f"--against names the store of {b}, but --store is missing; {a} holds {_names(left)}")
    if store:
        return [(_find(a, left, store, "--store"), _find(b, right, against or store, "--against" if against else "--store"))]
    sides = {side.name: side for side in _all(left)}
    common = [(sides[side.name], side) for side in _all(right) if side.name in sides]
    if not common:
        raise UsageError(
            f"no store:variant is in both files; {a} holds {_names(left)}; {b} holds {_names(right)}; name two with --store and --against"
        )
    return common


def _find(path: Path, result: Result, wanted: str, option: str) -> Side:
    found = [side for side in _all(result) if wanted in (side.name, side.store.store)]
    if len(found) == 1:
        return found[0]
    what = "matches more than one store of" if found else "is not in"
    raise UsageError(f"{option} {wanted} {what} {path}; it holds {_names(result)}")


def _all(result: Result) -> list[Side]:
    return [Side(result, store) for store in result.stores]


def _names(result: Result) -> str:
    return ", ".join(side.name for side in _all(result)) or "no store"
