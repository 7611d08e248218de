"""The states that crashes may have left of a recording, and what the store made of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from storeproof.result.part import ResultPart
from storeproof.spec.guarantee import CrashModel

PageWord = Literal["present", "missing", "zero", "torn"]
NameWord = Literal["there", "another", "missing", "removed"]


class TierCounts(ResultPart):
    """States that need equally much besides what was asked for."""

    states: int
    """Different ones, by what is on the disk."""
    tried: int


class PagesLeft(ResultPart):
    """Pages of a file, one after another, that were written and not synced."""

    first: int
    last: int
    became: PageWord


class FileLeft(ResultPart):
    """A file of which a crash left something else than the store saw, or may have."""

    path: str
    """From the directory of the data."""
    name: NameWord
    """`another`: it is still that of an earlier file. `removed`: it should not be there any more."""
    written: int | None
    """Its size as the store saw it."""
    left: int | None
    """Its size after the crash."""
    pages: list[PagesLeft]


class FailedState(ResultPart):
    """A state that did not hold."""

    state: str
    """As `storeproof crash-state` takes it."""
    depth: int
    """1: seen at the start after the crash; 2: after the next crash, with writes between them."""
    finding: str
    files: list[FileLeft] = Field(default_factory=list)
    """What of the last writes was on the disk; empty where the recording is too large to be kept."""


class CrashStateCounts(ResultPart):
    """One recording."""

    model: CrashModel
    requests: int
    changes: int
    """Changes of the disk."""
    tiers: list[TierCounts]
    losing: int
    """States after which acknowledged writes are missing."""
    unusable: int
    """States on which it does not start, or does not work."""
    kinds: dict[str, int] = Field(default_factory=dict)
    """How many of those that failed show each kind of finding; one may show several. Empty in results without the field."""
    failed: list[FailedState]
    """The first of them."""
