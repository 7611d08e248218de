"""`storeproof claims`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rich.console import Console

from storeproof.cli.output import form_of, write_output
from storeproof.report.claims.markdown import render_claims_html, render_claims_markdown
from storeproof.report.claims.screen import print_judged
from storeproof.result.claims import JudgedClaims, judge_claims
from storeproof.result.json_file import read_shown
from storeproof.spec import load_spec
from storeproof.spec.questions.read_analyses import read_analyses
from storeproof.spec.questions.read_claims import read_claims

_PAGES: Final[Mapping[str, Callable[[JudgedClaims], str]]] = {
    ".md": render_claims_markdown,
    ".html": render_claims_html,
    ".json": lambda judged: judged.model_dump_json(indent=1) + "\n",
}


def claims(paths: Sequence[Path], output: Path | None) -> int:
    """Hold the results against the published claims and the anomalies of analyses; 0 when of at least one something can be said, else 1.
    Raises `UsageError`: a result cannot be read, or the page cannot be written."""
    render = form_of(output, _PAGES)
    spec = load_spec()
    judged = judge_claims(read_claims(spec), [read_shown(path) for path in paths], spec, read_analyses(spec))
    print_judged(judged, Console())
    if output is not None and render is not None:
        write_output(output, render(judged))
    return 1 if judged.says_nothing else 0
