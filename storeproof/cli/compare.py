"""`storeproof compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from storeproof.errors import UsageError
from storeproof.report.comparison import files
from storeproof.report.comparison.content import ComparedContent, of_agreement, of_comparison, of_waits
from storeproof.report.comparison.screen import print_content
from storeproof.result.compare import Comparison, Side, compare, sides_of
from storeproof.result.json_file import read_shown
from storeproof.result.ratios.across_disks import across_disks
from storeproof.result.ratios.agreement import agreement


def compare_files(a: Path, b: Path | None, store: str | None, against: str | None, output: Path | None) -> int:
    """Compare the results in the files; 0 if at least one pair has a ratio, else 1.
    Raises `UsageError`: a file that cannot be read or written, or a store that is not in it."""
    if output is not None:
        files.check(output)
    left, right = _read(a), _read(b) if b else None
    if right is None and (store is None or against is None):
        raise UsageError(f"with one file, name both sides: --store and --against, each one of {_names(left)}")
    comparisons = [compare(one, other) for one, other in _pairs(a, left, b or a, left if right is None else right, store, against)]
    contents = [of_comparison(each) for each in comparisons]
    _print(contents)
    if output is not None:
        files.write(output, [files.comparison_data(each) for each in comparisons], contents)
    return _code(comparisons)


def across(a: Path, store: str | None, output: Path | None) -> int:
    """Compare each store of a result on each two of its disks; exit codes as for `compare_files`.
    Raises `UsageError`: a file that cannot be read or written, or no such store was on two disks."""
    if output is not None:
        files.check(output)
    sides = _read(a)
    named = [each for each in sides if store in (None, each.store.store, f"{each.store.store}:{each.store.variant}")]
    comparisons = across_disks(named)
    if not comparisons:
        which = "no store" if store is None else f"no {store}"
        raise UsageError(f"{a} has {which} on two disks; it holds {_names(sides)}; run the suites with --disk=NAME=PATH for each disk")
    contents = [content for each in comparisons for content in (of_comparison(each), of_waits(each)) if content is not None]
    _print(contents)
    if output is not None:
        files.write(output, [files.across_data(each) for each in comparisons], contents)
    return _code(comparisons)


def _print(contents: Sequence[ComparedContent]) -> None:
    console = Console()
    for position, content in enumerate(contents):
        if position:
            console.print()
        print_content(content, console)


def _code(comparisons: Sequence[Comparison]) -> int:
    return 0 if any(pair.ratio is not None for each in comparisons for pair in each.pairs) else 1


def agreement_of(a: Path, b: Path | None, store: str | None, output: Path | None) -> int:
    """Say how many numbers of the same plan agree in two runs; 0 when any was compared, else 1.
    Raises `UsageError`: a file that cannot be read or written, or a store that is not in it."""
    if b is None:
        raise UsageError("--agreement is of two runs of the same plan; give two results")
    if output is not None:
        files.check(output)
    pairs = _pairs(a, _read(a), b, _read(b), store, None)
    found = agreement(pairs)
    content = of_agreement(found, *pairs[0])
    print_content(content, Console())
    if output is not None:
        files.write(output, files.agreement_data(found, *pairs[0]), [content])
    return 0 if found.numbers else 1


def find(path: Path, sides: list[Side], wanted: str, option: str) -> Side:
    """The side that a user names, by its store or by store and variant. Raises `UsageError`: none or several have the name."""
    found = [side for side in sides if wanted in (side.name, side.store.store)]
    if len(found) == 1:
        return found[0]
    what = "matches more than one store of" if found else "is not in"
    raise UsageError(f"{option} {wanted} {what} {path}; it holds {_names(sides)}")


def _read(path: Path) -> list[Side]:
    return sides_of(read_shown(path))


def _pairs(a: Path, left: list[Side], b: Path, right: list[Side], store: str | None, against: str | None) -> list[tuple[Side, Side]]:
    if against and not store:
        raise UsageError(f"--against names the store of {b}, but --store is missing; {a} holds {_names(left)}")
    if store:
        return [(find(a, left, store, "--store"), find(b, right, against or store, "--against" if against else "--store"))]
    sides = {side.name: side for side in left}
    common = [(sides[side.name], side) for side in right if side.name in sides]
    if not common:
        raise UsageError(
            f"no store:variant is in both files; {a} holds {_names(left)}; {b} holds {_names(right)}; name two with --store and --against"
        )
    return common


def _names(sides: list[Side]) -> str:
    return ", ".join(side.name for side in sides) or "no store"
