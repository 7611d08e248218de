"""The evidence file: lines of JSON in gzip, one gzip member for each store that was struck, so that a run keeps them compressed.

It is read as a stream, within limits: a file may be forged, and a megabyte of gzip may hold a gigabyte. A run of many stores may exceed
them, since only claims are bundled; its own commands read it all.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Final

from storeproof.evidence.lines import FORMAT, OLDER, FileLine, Reading, StoreLine, lines_of, parsed
from storeproof.evidence.notation import EvidenceDamaged
from storeproof.evidence.rounds import StoreEvidence

EVIDENCE: Final = "evidence.jsonl.gz"
"""Its name, beside `result.json`."""
MOST_OPERATIONS: Final = 150_000
"""On one store: as they are judged, they take half a kilobyte of memory each."""
MOST_BYTES: Final = 64 << 20
"""Unpacked, of a whole file."""
_LONGEST: Final = 4 << 20
"""Bytes of a line: of 150,000 keys that are read back."""
_MOST_MEMBERS: Final = 300
"""Stores that are struck: of the largest scale, twelve cases of twenty rounds, each of which may be spoiled once."""
_UNBOUNDED: Final = (1 << 62, 1 << 62)
_CHUNK: Final = 1 << 16
_GZIP: Final = 31
"""For zlib: one gzip member with its header."""
_HEADER: Final = b"\x1f\x8b\x08\0\0\0\0\0"
"""How a member begins: without a name, a comment or a time."""
_HEADED: Final = len(_HEADER)
_LOOSER: Final = 1.25
"""How much longer a member may be than this machine packs it: packers differ, and an empty block costs five bytes."""


def member_of(store: StoreEvidence) -> bytes:
    """One store's part of the file."""
    return _packed(lines_of(store))


def evidence_file(run: str, members: Iterable[bytes]) -> bytes:
    """The whole file of a run."""
    return b"".join([_packed([FileLine(format=FORMAT, run=run).text]), *members])


def _packed(lines: Iterable[str]) -> bytes:
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


def read_evidence(file: BinaryIO, run: str, *, whole_run: bool = False) -> Iterator[StoreEvidence]:
    """The stores, one after the other. `run`: the id of the run that it must be of. `whole_run`: of any number of stores, and size.

    Raises:
        EvidenceDamaged: it is not what a run writes, byte for byte but for the choices of a packer; is of another run, or is too large.
    """
    members = _members(file, *(_UNBOUNDED if whole_run else (MOST_BYTES, _MOST_MEMBERS)))
    head = next(members, b"")
    first = parsed(head.partition(b"\n")[0]) if head else None
    if not isinstance(first, FileLine):
        raise EvidenceDamaged("it does not begin with the line of a file")
    if first.format not in (FORMAT, *OLDER):
        raise EvidenceDamaged(f"its format is {first.format[:20]!r}; this version reads {', '.join((*OLDER, FORMAT))}")
    if first.run != run:
        raise EvidenceDamaged(f"it is of the run {first.run[:20]!r}, and the result of {run!r}")
    _check_notation("the file", head, [first.text])
    for text in members:
        yield _store(text)


def _store(text: bytes) -> StoreEvidence:
    """One store, of which there is one notation."""
    lines = map(parsed, text.removesuffix(b"\n").split(b"\n"))
    first = next(lines)
    if not isinstance(first, StoreLine):
        raise EvidenceDamaged(f"a line of the kind `{first.line}` is out of place")
    reading = Reading(first, MOST_OPERATIONS)
    for line in lines:
        reading.add(line)
    _check_notation(first.case, text, lines_of(reading.store))
    return reading.store


def _check_notation(of: str, text: bytes, written: Iterable[str]) -> None:
    """Raises `EvidenceDamaged`: a text is not what a run writes of the same."""
    begin = 0
    for number, each in enumerate(written, 1):
        line = f"{each}\n".encode()
        if not text.startswith(line, begin):
            raise EvidenceDamaged(f"line {number} of {of[:60]} is not written as a run writes it")
        begin += len(line)
    if begin != len(text):
        raise EvidenceDamaged(f"{of[:60]} has more lines than a run writes of it")


def _members(file: BinaryIO, most_bytes: int, most_members: int) -> Iterator[bytes]:
    """The members of the file, unpacked. None is empty, and none is longer than a run packs it, so that nothing is hidden between them."""
    left, packed = most_bytes, file.read(_CHUNK)
    for number in range(1, most_members + 2):
        if not packed:
            return
        if number > most_members:
            raise EvidenceDamaged(f"it has more than {most_members} members, the most that a run of one store writes")
        if packed[:_HEADED] != _HEADER:
            raise EvidenceDamaged(f"it cannot be unpacked: member {number} does not begin as one that a run writes")
        text, size, packed = _unpacked(file, packed, left)
        if not text:
            raise EvidenceDamaged(f"member {number} is empty")
        left -= len(text)
        _check_lines(text)
        least = len(gzip.compress(text, mtime=0))
        if size > least * _LOOSER + _HEADED:
            raise EvidenceDamaged(f"member {number} is padded: it has {size:,} bytes, and a run packs it into {least:,}")
        yield text


def _unpacked(file: BinaryIO, packed: bytes, most: int) -> tuple[bytes, int, bytes]:
    """The content of the member that begins with `packed`, its packed size, and what was read after it."""
    unpacker = zlib.decompressobj(wbits=_GZIP)
    parts, size, length = [], 0, 0
    try:
        while not unpacker.eof:
            if not packed:
                raise EvidenceDamaged("it cannot be unpacked: its last member is cut off")
            part = unpacker.decompress(packed, most - length + 1)
            size += len(packed) - len(unpacker.unconsumed_tail) - len(unpacker.unused_data)
            length += len(part)
            if length > most:
                raise EvidenceDamaged(f"all lines are longer than {MOST_BYTES >> 20} MiB")
            parts.append(part)
            packed = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail or file.read(_CHUNK)
    except zlib.error as reason:
        raise EvidenceDamaged(f"it cannot be unpacked: {reason}") from None
    return b"".join(parts), size, packed or file.read(_CHUNK)


def _check_lines(text: bytes) -> None:
    """Raises `EvidenceDamaged`: one is longer than any of a run."""
    if len(text) > _LONGEST and max(map(len, text.split(b"\n"))) > _LONGEST:
        raise EvidenceDamaged(f"a line is longer than {_LONGEST >> 20} MiB")
