"""What was done to a disk while it was recorded, and the states that a crash may have left of it."""

from __future__ import annotations

import binascii
import gzip
import zlib
from base64 import b64decode, b64encode
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from storeproof.errors import NotAvailable
from storeproof.outcome import Lack

if TYPE_CHECKING:  # the process of a disk imports this file: it would spend nearly a second on models that it does not use
    from storeproof.native import DiskRecording
    from storeproof.spec.guarantee import CrashModel, IoError

MOST_PACKED: Final = 6 << 20
"""Characters of a recording that is kept as evidence."""
MOST_BYTES: Final = 48 << 20
"""Of the same, unpacked."""
MOST_STATES: Final = 200_000
_GZIP: Final = 31
"""For zlib: one gzip member with its header."""


@dataclass(frozen=True)
class DiskState:
    """One state that a crash may have left."""

    index: int
    name: str
    """The number of changes that were done, and what happened besides, as `120-missing:5:3`."""
    tier: int
    """How much had to happen besides what was asked for: 0 nothing, 1 a commit of the journal, 2 one page, 3 less likely."""
    until: int
    """The place of the change by which it became impossible: what was acknowledged before that has to be in it."""
    fingerprint: int
    """Of all that is there."""


def mapped_writes(pages: int) -> NotAvailable:
    """Why nothing follows from what the disk saw: it has pages of memory mappings when the kernel writes them back."""
    reason = f"it wrote {pages} pages through memory mappings, and the disk does not see in what order: nothing follows from its changes"
    return NotAvailable(reason, lack=Lack.DISK)


@dataclass(frozen=True)
class RecordedChanges:
    """What was recorded."""

    changes: int
    written: int
    """Bytes."""
    places: tuple[int, ...]
    """Of the marks among the changes, in order."""
    marks: tuple[int, ...]
    """Their numbers."""
    mapped: int = 0
    """Pages that were written through memory mappings, in files that were not synced: what these had in between is not recorded."""

    @classmethod
    def of(cls, changes: int, written: int, marks: Sequence[Sequence[int]], mapped: int = 0) -> RecordedChanges:
        """`marks`: each with its place."""
        return cls(changes, written, tuple(place for place, _ in marks), tuple(number for _, number in marks), mapped)

    def last_mark(self, place: int) -> int:
        """The number of the last mark before a change; 0 if there is none."""
        before = bisect_left(self.places, place)
        return self.marks[before - 1] if before else 0


def packed(content: bytes) -> str:
    """A recording as text without spaces; empty if it is too large to be kept."""
    text = b64encode(gzip.compress(content, mtime=0)).decode()
    return text if len(text) <= MOST_PACKED and len(content) <= MOST_BYTES else ""


def unpacked(text: str) -> bytes:
    """From that text. Raises `ValueError`: it is none, or is too large."""
    unpacker = zlib.decompressobj(wbits=_GZIP)
    try:
        content = unpacker.decompress(b64decode(text, validate=True), MOST_BYTES)
    except (zlib.error, binascii.Error) as reason:
        raise ValueError(f"a recording cannot be unpacked: {reason}") from None
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError(f"a recording is cut off, has more than {MOST_BYTES:,} bytes, or is followed by something")
    return content


def read_recording(text: str, model: CrashModel) -> tuple[DiskRecording, RecordedChanges, list[DiskState]]:
    """A packed recording, what is in it, and its states. Needs the compiled part. Raises `ValueError`: it is none."""
    from storeproof.native import DiskRecording

    kept = DiskRecording.load(unpacked(text))
    changes, written, _, marks = kept.about()
    return kept, RecordedChanges.of(changes, written, marks), states_of(kept.states(model, MOST_STATES)[0])


def states_of(found: Iterable[tuple[str, int, int, int]]) -> list[DiskState]:
    """As the compiled part lists them."""
    return [DiskState(index, *each) for index, each in enumerate(found)]


class Failures(NamedTuple):
    """What became of the calls of a disk that fails."""

    calls: int
    """Those that could fail so."""
    failed: int


class RecordingDisk(Protocol):
    """A disk that can be recorded, and fails when it is told to: see `FuseDisk`."""

    def record(self) -> None: ...

    def mark(self, number: int) -> None: ...

    def recorded(self) -> RecordedChanges: ...

    def mapped(self) -> int: ...

    def packed_recording(self) -> str: ...

    def load_recording(self, file: Path) -> None: ...

    def states(self, model: CrashModel) -> tuple[list[DiskState], int]: ...

    def restore(self, state: DiskState) -> None: ...

    def fail(self, error: IoError, nth: int, *, lasting: bool) -> None: ...

    def failures(self) -> Failures: ...
