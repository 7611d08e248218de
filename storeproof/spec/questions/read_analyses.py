"""Reads the analyses, and checks that the stores that they name exist. Only who judges claims reads them."""

from __future__ import annotations

from collections.abc import Iterator

from storeproof.errors import SpecError
from storeproof.spec.loader import Spec
from storeproof.spec.questions.analysis import Analysis
from storeproof.spec.questions.read_claims import Place, files_called, wrong_target
from storeproof.spec.reading.source import at


def read_analyses(spec: Spec) -> tuple[Analysis, ...]:
    """All files of `analyses/`, by name. Raises `SpecError`: with all errors of all files."""
    problems: list[str] = []
    found: list[Analysis] = []
    for path, analysis in files_called(spec.root / "analyses", Analysis, "analysis", problems):
        found.append(analysis)
        problems += [f"{at(path, *place)}: {wrong}" for place, wrong in _wrong(spec, analysis)]
    if problems:
        raise SpecError(problems)
    return tuple(found)


def _wrong(spec: Spec, analysis: Analysis) -> Iterator[tuple[Place, str]]:
    for number, each in enumerate(analysis.reported):
        for position, target in enumerate(each.tried_on):
            store, _, variant = target.partition(":")
            yield from ((("reported", number, "tried_on", position), wrong) for _, wrong in wrong_target(spec, store, variant))
        if analysis.store in spec.store_files and not (each.tried_on or each.untried):
            yield ("reported", number), f"{analysis.store} has a file now: say where it is tried (`tried_on`), or why it is not (`untried`)"
