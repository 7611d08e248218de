"""`storeproof decide`, and `storeproof needs init`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from storeproof.cli.output import form_of, write_output
from storeproof.errors import UsageError
from storeproof.printable import printable
from storeproof.regular_file import exists
from storeproof.report.decision.data import decision_data
from storeproof.report.decision.page import render_page
from storeproof.report.decision.record import render_record
from storeproof.report.decision.screen import print_decision
from storeproof.result.consistency import check_agrees
from storeproof.result.json_file import NAME, files_of, read_result, write_whole
from storeproof.result.needs.decision import Decision, decide
from storeproof.result.needs.evidence import ReadResult
from storeproof.spec import SPEC_ROOT, load_spec
from storeproof.spec.questions.read_needs import read_needs

MEETS, NONE_MEETS, NOT_SHOWN = 0, 1, 2

_FORMS: Final[Mapping[str, Callable[[Decision], str]]] = {
    ".html": render_page,
    ".md": lambda decision: printable(render_record(decision)),
    ".json": lambda decision: json.dumps(decision_data(decision), indent=1, ensure_ascii=False) + "\n",
}
_TEMPLATE = Path(__file__).with_name("templates") / "needs.yaml.txt"


def decide_by(needs: Path, results: Sequence[Path], output: Path | None) -> int:
    """Answer a needs file from results: those that are named, or the published ones of this checkout.

    Returns:
        0 if a candidate meets all, 1 if each misses something, 2 if one that misses nothing has something not shown.

    Raises:
        UsageError: a file cannot be read or written, or a result was changed after its run.
        SpecError: the needs file has errors.
    """
    render = form_of(output, _FORMS)
    spec = load_spec()
    asked = read_needs(needs, spec)
    files = [file for path in results or _published() for file in files_of(path)]
    decision = decide(asked, [_read(file) for file in files], spec)
    print_decision(decision, Console())
    if output is not None and render is not None:
        write_output(output, render(decision))
    if decision.meeting:
        return MEETS
    return NOT_SHOWN if decision.possible else NONE_MEETS


def write_template(file: Path) -> None:
    """Write a needs file with comments.

    Raises:
        UsageError: it exists, or cannot be written.
    """
    if exists(file):
        raise UsageError(f"{file} exists; name another file, or remove it")
    try:
        write_whole(file, _TEMPLATE.read_text(encoding="utf-8"))
    except OSError as reason:
        raise UsageError(f"{file} cannot be written: {reason}; name another file") from None
    print(f"wrote {file}; fill it in, and then: storeproof decide {file}")


def _published() -> list[Path]:
    """The published results of this checkout, without the latest run of its user. Raises `UsageError` where there are none."""
    found = [path for path in sorted((SPEC_ROOT.parent / "reports").glob(f"*/{NAME}")) if path.parent.name != "latest"]
    if not found:
        raise UsageError("there are no published results beside this installation; name results: storeproof decide NEEDS RESULT...")
    return found


def _read(file: Path) -> ReadResult:
    result = read_result(file)
    check_agrees(file, result)
    return ReadResult(file, result)
