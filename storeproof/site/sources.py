"""Finds and reads the results that a site is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from storeproof.errors import UsageError
from storeproof.printable import in_one_line
from storeproof.result.json_file import NAME, files_of, read_result
from storeproof.result.model import Result
from storeproof.result.terminal_safe import shown_of

SMOKE = "smoke"
"""The scale that is too small for decisions."""


@dataclass(frozen=True, eq=False)
class Source:
    """One published result. Its text has control and direction characters escaped."""

    name: str
    """The name of its folder, or of its file where that has another name than `result.json`."""
    file: Path
    """That it was read from."""
    result: Result

    @property
    def rank(self) -> tuple[bool, datetime]:
        """Greater for evidence that is preferred: what is large enough for decisions, then what is newer."""
        return self.result.run.scale != SMOKE, _moment(self.result.run.started)


def read_sources(paths: Sequence[Path]) -> list[Source]:
    """Read results; the preferred ones first.

    Args:
        paths: each a `result.json`, the folder that holds one, or a folder of such folders.

    Raises:
        UsageError: a path holds no result, one cannot be read, or two are of the same run.
    """
    found = dict.fromkeys(file.resolve() for path in paths for file in files_of(path))
    sources: dict[str, Source] = {}
    places: dict[str, Path] = {}
    for file in found:
        result = shown_of(read_result(file))
        run = result.run.id
        if run in places:
            raise UsageError(f"{places[run]} and {file} are both of run {in_one_line(run, 40)}; give one of them")
        places[run] = file
        sources[run] = Source(in_one_line(file.parent.name if file.name == NAME else file.stem, 80), file, result)
    return sorted(sources.values(), key=lambda each: each.rank, reverse=True)


def _moment(started: str) -> datetime:
    """When a run began; the earliest of all times where that cannot be read."""
    try:
        moment = datetime.fromisoformat(started)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
