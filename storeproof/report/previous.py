"""What a run finds in its report's directory: a report that holds more than its own is kept, and so is what a killed run had found."""

from __future__ import annotations

from pathlib import Path

from storeproof import units
from storeproof.errors import UsageError
from storeproof.evidence import EVIDENCE
from storeproof.outcome import IDLE
from storeproof.report import formatting
from storeproof.result.json_file import NAME, UNFINISHED, read_result
from storeproof.result.model import Result

BESIDE = (EVIDENCE, "latency.hlog", "junit.xml", "report.md", "report.html")
"""What is written beside `result.json`."""
PREVIOUS = "previous"
CUT_OFF = "cut-off"


def keep_report(directory: Path, new: Result, *, cut_short: bool) -> str:
    """Move the report that is there to `previous/`, if it may hold what the new one does not; what was done, in one line, or "".

    One of a run that tried nothing, such as without the server's program, holds nothing that a later one would lack.

    Args:
        directory: of the report.
        new: what is about to be written.
        cut_short: whether the new run ended before all was tried.

    Raises:
        OSError: it cannot be moved.
    """
    file = directory / NAME
    if not file.exists():
        return ""
    old = _read(file)
    covered = old is not None and _covers(new, old)
    if old is not None and (not _tried(old) or (covered and not cut_short)):
        return ""
    target = directory / PREVIOUS
    fuller = _fuller(target / NAME, old)
    if fuller is not None:
        return f"{target} keeps the report of {_about(fuller)}; it holds more than the one of {_about(old)}, which was written over"
    _move(directory, file, target, BESIDE)
    if old is None:
        return f"the report of {_about(old)} is kept in {target}"
    if covered:
        return f"the report of {_about(old)} is kept in {target}, since this run was cut short"
    return f"the report of {_about(old)} holds more than this one; it is kept in {target}"


def keep_unfinished(directory: Path) -> str:
    """Move what a killed run had found to `cut-off/`; what was done, in one line, or "". Raises OSError: it cannot be moved."""
    file = directory / UNFINISHED
    found = _read(file) if file.exists() else None
    if found is None or not _tried(found):
        return ""
    target = directory / CUT_OFF
    if _fuller(target / NAME, found) is None:
        _move(directory, file, target, ())
    return f"an earlier run was cut off; what it had found is kept in {target} (`storeproof report {target}` renders it)"


def _move(directory: Path, result: Path, target: Path, others: tuple[str, ...]) -> None:
    target.mkdir(exist_ok=True)
    for name in BESIDE:
        (target / name).unlink(missing_ok=True)
        if name in others and (directory / name).exists():
            (directory / name).replace(target / name)
    result.replace(target / NAME)


def _fuller(held: Path, other: Result | None) -> Result | None:
    """The result that is held already, if it tried more than the other and other things."""
    found = _read(held) if held.exists() else None
    if found is None or other is None or _covers(other, found):
        return None
    return found if sum(_tried(found).values()) > sum(_tried(other).values()) else None


def _covers(new: Result, old: Result) -> bool:
    """Whether the new one tried at least as many cases of every target, at no smaller scale."""
    scales = list(formatting.SCALES)
    tried = _tried(new)
    return scales.index(new.run.scale) >= scales.index(old.run.scale) and all(
        tried.get(target, 0) >= number for target, number in _tried(old).items()
    )


def _tried(result: Result) -> dict[str, int]:
    """How many cases were tried, by target; those of which none was are left out."""
    found = {
        formatting.name_of(store): sum(store.counts.values()) - sum(store.counts.get(each, 0) for each in IDLE) for store in result.stores
    }
    return {target: number for target, number in found.items() if number}


def _about(result: Result | None) -> str:
    if result is None:
        return "another version of storeproof"
    return f"{result.run.started} ({units.plural(sum(_tried(result).values()), 'case')} tried, {result.run.scale})"


def _read(file: Path) -> Result | None:
    try:
        return read_result(file)
    except UsageError:
        return None
