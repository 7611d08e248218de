"""The states of a disk that were tried after a recording, and how they are written: lines after those of the operations.

What was read back is written once for all states in which it is the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal

from pydantic import Field

from storeproof.evidence.notation import EvidenceDamaged, KnownKeys, LinePart, Number, SeenOfKeys, SeenOnLine, seen_of_keys
from storeproof.history import Operation, Place, Seen
from storeproof.spec.guarantee import CrashModel

_CHUNK: Final = 1 << 20
"""Characters of a recording on one line."""
MOST_TRIED: Final = 5_000
"""States of one recording that are tried: each has some twenty operations, and is judged again in a millisecond."""
Fingerprint = Annotated[int, Field(ge=0, lt=1 << 64)]


@dataclass(frozen=True, slots=True)
class StateEvidence:
    """One state, and what the store made of it."""

    name: str
    tier: int
    mark: int
    """What was acknowledged by this mark has to be there."""
    fingerprint: int
    """Of all that was on the disk."""
    depth: int = 1
    """How many crashes there were: the store worked after the first if there were two."""
    seen: Mapping[Place, Seen] | None = None
    """What was read after the crash; None: nothing could be."""
    client: int | None = None
    """The number of the one that wrote after that."""
    again: Mapping[Place, Seen] | None = None
    """What was read after the next crash."""
    broken: str = ""
    """Why it did not start, or did not work."""
    ended: bool = False
    """Of one that is broken: it did not start, or had ended."""


@dataclass(slots=True)
class CrashEvidence:
    """The states of one recording, in the order in which they were tried. Times of the operations are numbers of marks."""

    model: CrashModel
    requests: int
    changes: int
    """Of the disk, that were recorded."""
    clients: int
    """Those that were recorded; later ones wrote after a crash."""
    collections: dict[str, str]
    """By model the names that the store had for them."""
    states_of_tiers: list[int]
    """How many there are, tried or not."""
    recording: str = ""
    """Packed; empty: it is too large to be kept."""
    states: list[StateEvidence] = field(default_factory=list)

    def load(self, operations: list[Operation]) -> list[Operation]:
        """Those of all operations that were recorded."""
        return [each for each in operations if each.client < self.clients]


class CrashLine(LinePart):
    """What was recorded."""

    line: Literal["crash"] = "crash"
    model: CrashModel
    requests: Number
    changes: Number
    clients: Number
    collections: dict[str, str]
    tiers: list[Number]


class DiskLine(LinePart):
    """A part of the recording."""

    line: Literal["disk"] = "disk"
    recording: str


class SeenLine(LinePart):
    """What was read in some states."""

    line: Literal["seen"] = "seen"
    keys: list[Number]
    seen: list[SeenOnLine]


class StateLine(LinePart):
    """A state. What was read in it is named by its number among the lines of that kind."""

    line: Literal["state"] = "state"
    state: str
    tier: Number
    mark: Number
    fingerprint: Fingerprint
    depth: Number
    seen: Number | None
    client: Number | None
    again: Number | None
    new: SeenOfKeys | None
    """What was read after the next crash of what was written after the first."""
    broken: str
    ended: bool


CrashLines = CrashLine | DiskLine | SeenLine | StateLine


def crash_lines(crash: CrashEvidence, operations: list[Operation], numbers: Mapping[Place, int]) -> Iterator[str]:
    """What is written of a recording and its states. `numbers`: of all keys."""
    recorded = {each.place for each in crash.load(operations)}
    yield CrashLine(
        model=crash.model,
        requests=crash.requests,
        changes=crash.changes,
        clients=crash.clients,
        collections=crash.collections,
        tiers=crash.states_of_tiers,
    ).text
    for first in range(0, len(crash.recording), _CHUNK):
        yield DiskLine(recording=crash.recording[first : first + _CHUNK]).text
    known: dict[str, int] = {}
    for each in crash.states:
        places: list[int | None] = []
        again = None if each.again is None else {place: seen for place, seen in each.again.items() if place in recorded}
        for shown in (each.seen, again):
            if shown is None:
                places.append(None)
                continue
            pairs = seen_of_keys(shown, numbers)
            line = SeenLine(keys=pairs.keys, seen=pairs.seen).text
            if line not in known:
                yield line
            places.append(known.setdefault(line, len(known)))
        later = {place: seen for place, seen in (each.again or {}).items() if place not in recorded}
        yield StateLine(
            state=each.name,
            tier=each.tier,
            mark=each.mark,
            fingerprint=each.fingerprint,
            depth=each.depth,
            seen=places[0],
            client=each.client,
            again=places[1],
            new=None if each.again is None else seen_of_keys(later, numbers),
            broken=each.broken,
            ended=each.ended,
        ).text


class ReadingStates:
    """Put together line by line."""

    def __init__(self, keys: KnownKeys) -> None:
        self.crash: CrashEvidence | None = None
        self._keys = keys
        self._seen: list[dict[Place, Seen]] = []

    def add(self, line: CrashLines) -> None:
        """Take the next line. Raises `EvidenceDamaged`."""
        if isinstance(line, CrashLine):
            self.crash = CrashEvidence(line.model, line.requests, line.changes, line.clients, line.collections, line.tiers)
            return
        if self.crash is None:
            raise EvidenceDamaged("states were tried, and nothing says of which recording")
        if isinstance(line, DiskLine):
            self.crash.recording += line.recording
        elif isinstance(line, SeenLine):
            self._seen.append(self._keys.seen(line.keys, line.seen))
        else:
            self.crash.states.append(self._state(line))
        if max(len(self.crash.states), len(self._seen) // 2) > MOST_TRIED:
            raise EvidenceDamaged(f"there are more than {MOST_TRIED:,} states of one recording")

    def _state(self, line: StateLine) -> StateEvidence:
        again = self._named(line.again)
        if (again is None) != (line.new is None):
            raise EvidenceDamaged(f"state {line.state[:40]} was read in part after the next crash")
        if again is not None and line.new is not None:
            again = {**again, **self._keys.seen(line.new.keys, line.new.seen)}
        return StateEvidence(
            line.state,
            line.tier,
            line.mark,
            line.fingerprint,
            line.depth,
            self._named(line.seen),
            line.client,
            again,
            line.broken,
            line.ended,
        )

    def _named(self, number: int | None) -> dict[Place, Seen] | None:
        if number is None:
            return None
        if number >= len(self._seen):
            raise EvidenceDamaged(f"a state names line {number} of what was read, and there are {len(self._seen)}")
        return self._seen[number]
