"""Reads the results that needs are held against: the published ones of this checkout, by an index, or others.

The index has of each published result what a decision reads, and the SHA-256 of its file. A file that has changed since is read itself. An
index could say anything, so only that of this checkout is used, which a test makes again.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from storeproof.errors import UsageError
from storeproof.regular_file import Unreadable, decoded, exists
from storeproof.result.consistency import check_agrees
from storeproof.result.json_file import compressed, content_of, file_in, read_result, write_bytes
from storeproof.result.measurement import Measurement
from storeproof.result.model import Result, StoreResult
from storeproof.result.needs.joined_results import NO_EVIDENCE, ReadResult
from storeproof.spec import SPEC_ROOT
from storeproof.stats.latency import encode, new_histogram

REPORTS: Final = SPEC_ROOT.parent / "reports"
INDEX: Final = "index.json.xz"


def published_results() -> list[Path]:
    """The published results of this checkout, without the latest run of its user. Raises `UsageError` where there are none."""
    found = _files(REPORTS)
    if not found:
        raise UsageError("there are no published results beside this installation; name results: storeproof decide NEEDS RESULT...")
    return found


def published_evidence() -> list[ReadResult]:
    """What decisions read of the published results. Raises `UsageError`: there are none, or one cannot be read."""
    known = _read_index(REPORTS / INDEX)
    return [_indexed(file, known) or read_agreeing(file) for file in published_results()]


def write_index(reports: Path) -> None:
    """Write the index of the results in the folders of a directory. Raises `UsageError`: one cannot be read, or was changed."""
    write_bytes(reports / INDEX, compressed(index_of(reports).encode()))


def index_of(reports: Path) -> str:
    """The content of the index: a line for each result, with the SHA-256 of its file and what decisions read of it, in JSON."""
    return "".join(f"{_digest(file)} {_what_decisions_read(read_agreeing(file).result).model_dump_json()}\n" for file in _files(reports))


def read_agreeing(file: Path) -> ReadResult:
    """A result that agrees with itself. Raises `UsageError`: it cannot be read, or was changed after its run."""
    result = read_result(file)
    check_agrees(file, result)
    return ReadResult(file, result)


def _files(reports: Path) -> list[Path]:
    folders = (each for each in sorted(reports.glob("*/")) if each.name != "latest")
    return [file for folder in folders if exists(file := file_in(folder))]


def _read_index(index: Path) -> dict[str, str]:
    """What it has of each file, by the SHA-256; nothing where it cannot be read."""
    try:
        lines = decoded(content_of(index)).split("\n")
    except Unreadable:
        return {}
    return {digest: result for digest, _, result in (line.partition(" ") for line in lines)}


def _indexed(file: Path, known: dict[str, str]) -> ReadResult | None:
    try:
        return ReadResult(file, Result.model_validate_json(known.get(_digest(file), "")))
    except ValidationError:
        return None


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _what_decisions_read(result: Result) -> Result:
    """The result without what takes most of its room and is in no answer: the rounds and histograms of numbers, the second by second of
    outages and clusters, the verdicts of profiles, and cases that say nothing about the store."""
    return result.model_copy(update={"stores": [_of_store(each) for each in result.stores]})


def _of_store(store: StoreResult) -> StoreResult:
    faults = [each.model_copy(update={"cluster_rounds": []}) for each in store.durability.guarantees]
    joint = [each.model_copy(update={"numbers": {role: _number(one) for role, one in each.numbers.items()}}) for each in store.joint]
    update = {
        "durability": store.durability.model_copy(update={"guarantees": faults, "failovers": []}),
        "outcomes": [each for each in store.outcomes if each.outcome not in NO_EVIDENCE],
        "measurements": [_number(each) for each in store.measurements],
        "outages": [each.model_copy(update={"bins": []}) for each in store.outages],
        "joint": joint,
        "profiles": [],
        "histories": [],
        "scaling": [],
        "sources": {},
        "operations": {},
    }
    return store.model_copy(update=update)


def _number(measured: Measurement) -> Measurement:
    return measured.model_copy(update={"rounds": [], "laps": [], "histogram": _EMPTY})


_EMPTY: Final = encode(new_histogram())
"""A number must have a histogram."""
