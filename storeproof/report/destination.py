"""Gets the report of a run to some place: where it was wanted, or else where it can be written."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from storeproof.evidence import EVIDENCE
from storeproof.report import render_reports
from storeproof.report.previous import keep_report
from storeproof.result.json_file import NAME, write_bytes, write_result
from storeproof.result.model import Result


@dataclass(frozen=True)
class Saved:
    """Where the report is."""

    file: Path | None
    """The page, or the `result.json` where there is no page; None: it went to the standard error."""
    complaint: str = ""
    """Why it is not whole where it was wanted."""
    earlier: str = ""
    """What became of an earlier report."""


def save_report(result: Result, wanted: Path, *, cut_short: bool, evidence: bytes = b"") -> Saved:
    """Write `result.json`, its evidence and all that is rendered from it into `wanted`, else into a new directory, else `result.json` to
    the standard error. Never raises `OSError`.

    Args:
        cut_short: whether the run ended before all was tried.
        evidence: the file of the durability rounds; empty without any.
    """
    try:
        earlier = keep_report(wanted, result, cut_short=cut_short)
        _write(result, evidence, wanted)
    except OSError as reason:
        return _elsewhere(result, evidence, f"the report could not be written to {wanted}: {_why(reason)}", None)
    try:
        render_reports(result, wanted)
    except OSError as reason:
        saved = _elsewhere(
            result, evidence, f"{wanted / NAME} is whole, but the report could not be written beside it: {_why(reason)}", wanted / NAME
        )
        return Saved(saved.file, saved.complaint, earlier)
    except Exception as reason:  # noqa: BLE001 - a fault of ours in what renders must not cost the screen too
        return Saved(wanted / NAME, f"{NAME} is whole, but could not be rendered: {type(reason).__name__}: {reason}", earlier)
    return Saved(wanted / "report.html", earlier=earlier)


def _write(result: Result, evidence: bytes, directory: Path) -> None:
    if evidence:
        write_bytes(directory / EVIDENCE, evidence)
    else:
        (directory / EVIDENCE).unlink(missing_ok=True)  # of an earlier run
    write_result(result, directory / NAME)


def _elsewhere(result: Result, evidence: bytes, complaint: str, held: Path | None) -> Saved:
    """Somewhere else. `held`: the `result.json` that could be written."""
    for base in _bases():
        try:
            directory = Path(tempfile.mkdtemp(prefix="storeproof-report-", dir=base))
        except OSError:
            continue
        try:
            _write(result, evidence, directory)
            render_reports(result, directory)
        except Exception:  # noqa: BLE001 - whatever it is, the next place is tried
            shutil.rmtree(directory, ignore_errors=True)
            continue
        return Saved(directory / "report.html", f"{complaint}; it is in {directory}; name another directory with --report-dir")
    if held is not None:
        return Saved(held, f"{complaint}; `storeproof report {held} --report-dir DIRECTORY` renders it")
    sys.stderr.write(f"\n{result.model_dump_json()}\n")
    sys.stderr.flush()
    return Saved(None, f"{complaint}, nor anywhere else; {NAME} went to the standard error: the line that begins with a brace")


def _bases() -> Iterator[Path]:
    """Where a new directory may be made."""
    given = os.environ.get("TMPDIR")
    yield from map(Path, [*([given] if given else []), "/tmp", "/var/tmp", "/dev/shm"])  # noqa: S108 - made by mkdtemp
    try:
        yield Path.home()
    except RuntimeError:  # an unknown user
        return


def _why(reason: OSError) -> str:
    return f"{reason.strerror or reason}" + (f" ({reason.filename})" if reason.filename else "")
