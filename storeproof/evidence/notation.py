"""How what is common to all lines of an evidence file is written: times, keys, what was read under them, and how requests ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field

from storeproof.evidence.audit import AuditEvidence
from storeproof.history import ABSENT, Action, Observation, Place, RequestOutcome, Seen, Sight

Nanoseconds = Annotated[int, Field(ge=-1, lt=1 << 62)]
Number = Annotated[int, Field(ge=0, lt=1 << 31)]
SeenOnLine = None | int | str | tuple[Sight, str]
"""None: absent; a number: of a counter; a text: the write id of a whole record; else what is seen of a record, and a write id."""
UNKNOWN: Final = -1
"""In place of the time that a reply took: there was none."""
ENDINGS: Final[Mapping[str, RequestOutcome]] = {"o": "ok", "r": "refused", "u": "unknown"}
ACTIONS: Final[Mapping[str, Action]] = {
    "p": "put",
    "d": "delete",
    "i": "increment",
    "g": "get",
    "c": "compare_and_set",
    "a": "put_if_absent",
}
LETTERS: Final[Mapping[str, str]] = {word: letter for letter, word in (*ACTIONS.items(), *ENDINGS.items())}


class EvidenceDamaged(ValueError):
    """It is not what a run writes."""


class LinePart(BaseModel):
    """A line, or a part of one."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    later: ClassVar[frozenset[str]] = frozenset()
    """Fields that earlier releases did not have: each is None by default, and is then left out, so that what they wrote keeps its
    notation."""

    @property
    def text(self) -> str:
        """As it is written."""
        return self.model_dump_json(exclude={name for name in self.later if getattr(self, name) is None})


class SeenOfKeys(LinePart):
    """What was read under some keys, by their numbers."""

    keys: list[Number]
    seen: list[SeenOnLine]


class AuditOnLine(LinePart):
    """What was read back."""

    moment: Nanoseconds
    everything: bool
    keys: list[Number]
    seen: list[SeenOnLine]
    gone: list[str]
    ended: Nanoseconds


def seen_of_keys(seen: Mapping[Place, Seen], numbers: Mapping[Place, int]) -> SeenOfKeys:
    """`numbers`: of all keys."""
    return SeenOfKeys(keys=[numbers[place] for place in seen], seen=[seen_on_line(each) for each in seen.values()])


def audit_on_line(audit: AuditEvidence, numbers: Mapping[Place, int], origin: int) -> AuditOnLine:
    """`origin`: from which times count."""
    pairs = seen_of_keys(audit.seen, numbers)
    return AuditOnLine(
        moment=audit.moment - origin,
        everything=audit.everything,
        keys=pairs.keys,
        seen=pairs.seen,
        gone=list(audit.gone),
        ended=audit.ended - origin,
    )


class KnownKeys:
    """The keys that have been read so far."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        """By their numbers."""
        self.counters: set[int] = set()
        """Numbers of the keys that are counters."""

    def audit(self, line: AuditOnLine) -> AuditEvidence:
        """What was read back. Raises `EvidenceDamaged`."""
        return AuditEvidence(line.moment, line.everything, self.seen(line.keys, line.seen), tuple(line.gone), line.ended)

    def seen(self, keys: Sequence[int], values: Sequence[SeenOnLine]) -> dict[Place, Seen]:
        """What was read under some keys. Raises `EvidenceDamaged`."""
        if len(keys) != len(values) or len(set(keys)) != len(keys):
            raise EvidenceDamaged("what was read back does not have one value for each key")
        seen: dict[Place, Seen] = {}
        for key, value in zip(keys, values, strict=True):
            if not 0 <= key < len(self.places):
                raise EvidenceDamaged(f"key {key} was read back, and there are {len(self.places)}")
            seen[self.places[key]] = self._seen(key, value)
        return seen

    def _seen(self, key: int, value: SeenOnLine) -> Seen:
        if (key in self.counters) != isinstance(value, int) and value is not None:
            raise EvidenceDamaged(f"key {key} is read back as another kind of record than it was written")
        if isinstance(value, int) or (value is None and key in self.counters):
            return value
        return observation_of(value)


def observation_of(value: SeenOnLine) -> Observation:
    """What was read of a record. Raises `EvidenceDamaged`: it is a number."""
    if isinstance(value, int):
        raise EvidenceDamaged("a record is read back as a counter")
    if value is None:
        return ABSENT
    return Observation("whole", value) if isinstance(value, str) else Observation(*value)


def after_each_other(moments: Sequence[int], before: int) -> list[int]:
    """Nanoseconds from each moment to the next. `before`: the first of all."""
    return [now - earlier for now, earlier in zip(moments, [before, *moments], strict=False)]


def seen_on_line(seen: Seen) -> SeenOnLine:
    if not isinstance(seen, Observation):
        return seen
    if seen.sight == "absent":
        return None
    return seen.write_id if seen.sight == "whole" else (seen.sight, seen.write_id)
