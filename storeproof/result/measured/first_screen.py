"""What the first screen of the site says of a store: the verdicts as they were found, so that its script reads them and judges nothing."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from storeproof.result.part import ResultPart
from storeproof.stats.intervals import Grade

RoleVerdict = Literal["meets", "lacks", "failed", "open"]

FaultState = Literal["kept", "lost", "changed", "no_start", "open"]
"""`changed`: nothing is missing, but values are torn, reverted, invented or the like. `open`: no verdict."""


class RoleSummary(ResultPart):
    """Whether the store can fill a role."""

    verdict: RoleVerdict
    failed: list[str] = Field(default_factory=list)
    """Models, capabilities and guarantees that it answered wrongly, or claims and did not keep."""
    lacking: list[str] = Field(default_factory=list)
    """Those that it does not have."""
    open: int = 0
    """Number of those of which nothing was shown."""
    looser: list[str] = Field(default_factory=list)
    """The capabilities by which demands are met that have a stricter alternative."""


class FaultSummary(ResultPart):
    """What one fault cost in all of its rounds."""

    state: FaultState
    promised: bool
    """Whether the variant claims to survive it."""
    rounds: int
    text: str
    """`36 % lost`, `30 torn`, `0 of 34k`."""
    changed: str = ""
    """All findings but the loss, with their counts of records."""
    failover: tuple[float, float] | None = None
    """Of a cluster whose primary was struck: the median and the longest, in seconds."""
    succession: str = ""
    """Who promoted the other node, or when the loss was detected and the node elected; empty where the rounds do not tell."""


class SpeedSummary(ResultPart):
    """One of the speeds, without indexes, at the number of clients at which most stores of the run have a valid one."""

    clients: int
    rate: float
    """The median, per second."""
    low: float
    high: float
    grade: Grade
    p99: float | None
    """In microseconds."""
    at_least: bool = False
    drifting: bool = False
    invalid: list[str] | None = None
    """Why there is no rate; None where there is one."""


class FirstScreen(ResultPart):
    """A row of it."""

    product: str
    """Name, and version up to its numbers, as `10.11.19`."""
    version: str
    """Name and version as the server reported them."""
    tried: bool
    """Whether any capability was."""
    roles: dict[str, RoleSummary]
    """By profile; empty where nothing was tried."""
    losses: dict[str, FaultSummary]
    """By guarantee, of the faults that struck."""
    speeds: dict[str, SpeedSummary]
    """By workload."""
    apart: dict[str, str]
    """By workload: in what its number differs from the most others of the run, so that it may not stand beside them."""
