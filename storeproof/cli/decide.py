"""`storeproof decide`, and `storeproof needs init`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from storeproof.cli.output import form_of, write_output
from storeproof.errors import UsageError
from storeproof.machine.garbage import without_garbage
from storeproof.printable import printable
from storeproof.regular_file import exists
from storeproof.report.decision.record import decision_data
from storeproof.report.decision.screen import print_decision
from storeproof.result.json_file import files_of, write_whole
from storeproof.result.needs.decision import Decision, decide
from storeproof.result.needs.published import published_evidence, read_agreeing
from storeproof.spec.edition import VERSION
from storeproof.spec.editions.frozen import frozen_editions, load_edition
from storeproof.spec.questions.read_needs import read_needs

MEETS, NONE_MEETS, NOT_SHOWN = 0, 1, 2


def _page(decision: Decision) -> str:
    from storeproof.report.decision.record import render_page  # only here: an answer on the screen needs no templates

    return render_page(decision)


def _record(decision: Decision) -> str:
    from storeproof.report.decision.record import render_record  # the same

    return printable(render_record(decision))


_FORMS: Final[Mapping[str, Callable[[Decision], str]]] = {
    ".html": _page,
    ".md": _record,
    ".json": lambda decision: json.dumps(decision_data(decision), indent=1, ensure_ascii=False) + "\n",
}
_TEMPLATE = Path(__file__).with_name("templates") / "needs.yaml.txt"


def decide_by(needs: Path, results: Sequence[Path], output: Path | None, edition: str | None) -> int:
    """Answer a needs file from results: those that are named, or the published ones of this checkout.

    Args:
        edition: by whose demands a need is met; by default the newest frozen one, since what a draft demands may be newer than any result.

    Returns:
        0 if a candidate meets all, 1 if each misses something, 2 if one that misses nothing has something not shown.

    Raises:
        UsageError: a file cannot be read or written, or a result was changed after its run.
        SpecError: the needs file has errors.
    """
    render = form_of(output, _FORMS)
    with without_garbage():  # results are large trees, and no garbage: looking for cycles in them took a third of the time
        spec = load_edition(edition or next(reversed([*frozen_editions()]), VERSION))
        asked = read_needs(needs, spec)
        found = [read_agreeing(file) for path in results for file in files_of(path)] if results else published_evidence()
        decision = decide(asked, found, spec, str(needs))
    print_decision(decision, Console())
    if output is not None and render is not None:
        write_output(output, render(decision))
    if decision.meeting:
        return MEETS
    return NOT_SHOWN if decision.possible else NONE_MEETS


def write_template(file: Path) -> None:
    """Write a needs file with comments. Raises `UsageError`: it exists, or cannot be written."""
    if exists(file):
        raise UsageError(f"{file} exists; name another file, or remove it")
    try:
        write_whole(file, _TEMPLATE.read_text(encoding="utf-8"))
    except OSError as reason:
        raise UsageError(f"{file} cannot be written: {reason}; name another file") from None
    print(f"wrote {file}; fill it in, and then: storeproof decide {file}")
