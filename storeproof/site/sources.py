"""Finds and reads the results that a site is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from storeproof.errors import UsageError
from storeproof.printable import in_one_line
from storeproof.result.json_file import COMPRESSED, NAME, files_of, read_shown
from storeproof.result.model import Result
from storeproof.result.needs.servers import preference


@dataclass(frozen=True, eq=False)
class SourceResult:
    """One published result. Its text has control and direction characters escaped."""

    name: str
    """The name of its folder, or of its file where that has another name than `result.json`."""
    file: Path
    """That it was read from."""
    result: Result


def read_sources(paths: Sequence[Path]) -> list[SourceResult]:
    """Read results; the preferred ones first.

    Args:
        paths: each a `result.json`, the folder that holds one, or a folder of such folders.

    Raises:
        UsageError: a path holds no result, one cannot be read, or two are of the same run.
    """
    found = dict.fromkeys(file.resolve() for path in paths for file in files_of(path))
    sources: dict[str, SourceResult] = {}
    places: dict[str, Path] = {}
    for file in found:
        result = read_shown(file)
        run = result.run.id
        if run in places:
            raise UsageError(f"{places[run]} and {file} are both of run {in_one_line(run, 40)}; give one of them")
        places[run] = file
        name = file.parent.name if file.name in (NAME, COMPRESSED) else Path(file.name.removesuffix(".xz")).stem
        sources[run] = SourceResult(in_one_line(name, 80), file, result)
    return sorted(sources.values(), key=lambda each: preference(each.result), reverse=True)
