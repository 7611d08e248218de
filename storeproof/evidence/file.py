"""The evidence file: lines of JSON in gzip, one gzip member for each store that was struck, so that a run keeps them compressed.

It is read as a stream, within limits: a file may be forged, and a megabyte of gzip may hold a gigabyte.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from storeproof.evidence.lines import FORMAT, OLDER, EvidenceDamaged, FileLine, Reading, StoreLine, lines_of, parsed
from storeproof.evidence.rounds import StoreEvidence

EVIDENCE: Final = "evidence.jsonl.gz"
"""Its name, beside `result.json`."""
MOST_OPERATIONS: Final = 150_000
"""On one store: as they are judged, they take half a kilobyte of memory each."""
MOST_BYTES: Final = 24 << 20
"""Unpacked, of a whole file."""
_LONGEST: Final = 4 << 20
"""Bytes of a line: of 150,000 keys that are read back."""


def member_of(store: StoreEvidence) -> bytes:
    """One store's part of the file."""
    return _packed(lines_of(store))


def evidence_file(run: str, members: Iterable[bytes]) -> bytes:
    """The whole file of a run."""
    return b"".join([_packed([FileLine(format=FORMAT, run=run).model_dump_json()]), *members])


def _packed(lines: Iterable[str]) -> bytes:
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


def read_evidence(file: BinaryIO, run: str) -> Iterator[StoreEvidence]:
    """The stores, one after the other. `run`: the id of the run that it must be of.

    Raises:
        EvidenceDamaged: it is not what a run writes, is of another run, or is too large.
    """
    lines = _lines(file)
    first = next(lines, None)
    head = parsed(first) if first is not None else None
    if not isinstance(head, FileLine):
        raise EvidenceDamaged("it does not begin with the line of a file")
    if head.format not in (FORMAT, OLDER):
        raise EvidenceDamaged(f"its format is {head.format[:20]!r}; this version reads {FORMAT} and {OLDER}")
    if head.run != run:
        raise EvidenceDamaged(f"it is of the run {head.run[:20]!r}, and the result of {run!r}")
    reading: Reading | None = None
    for text in lines:
        line = parsed(text)
        if isinstance(line, StoreLine):
            if reading is not None:
                yield reading.store
            reading = Reading(line, MOST_OPERATIONS)
        elif reading is None or isinstance(line, FileLine):
            raise EvidenceDamaged(f"a line of the kind `{line.line}` is out of place")
        else:
            reading.add(line)
    if reading is not None:
        yield reading.store


def _lines(file: BinaryIO) -> Iterator[bytes]:
    left = MOST_BYTES
    try:
        with gzip.GzipFile(fileobj=file, mode="rb") as unpacked:
            while line := unpacked.readline(_LONGEST + 1):
                left -= len(line)
                if len(line) > _LONGEST or left < 0:
                    raise EvidenceDamaged(f"a line is longer than {_LONGEST >> 20} MiB, or all lines than {MOST_BYTES >> 20} MiB")
                yield line
    except (OSError, EOFError, zlib.error) as reason:
        raise EvidenceDamaged(f"it cannot be unpacked: {reason}") from None
