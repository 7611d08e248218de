"""The errors that a disk answered with, one call after another, and what the store made of each."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from storeproof.result.part import ResultPart
from storeproof.spec.guarantee import IoError

Reaction = Literal["refused", "read_only", "ended", "went_on"]
"""`refused`: some requests, or each client at its start. `read_only`: all writes, also when the disk works again. `ended`: the server,
or it closed its connections, or it does not start. `went_on`: no client was told of an error."""


class ErrorTrials(ResultPart):
    """Errors of one duration."""

    tried: int
    refused: int
    read_only: int
    ended: int
    went_on: int


class FailedCall(ResultPart):
    """An error after which something was wrong."""

    call: int
    """1 is the first of the load that can fail so; 0: without any error."""
    lasting: bool
    """Whether all later calls failed, too."""
    reaction: Reaction
    finding: str


class IoErrorCounts(ResultPart):
    """One kind of error, in each call of the same load in turn."""

    error: IoError
    requests: int
    calls: int
    """Calls of the load that can fail so."""
    once: ErrorTrials
    lasting: ErrorTrials
    losing: int
    """Errors after which acknowledged writes are missing, or data is served that no client wrote."""
    unusable: int
    """Errors after which it does not start, or does not work, on a disk that works."""
    kinds: dict[str, int] = Field(default_factory=dict)
    """How many of those that failed show each kind of finding; one may show several. Empty in results without the field."""
    failed: list[FailedCall]
    """The first of them."""
