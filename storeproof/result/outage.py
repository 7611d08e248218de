"""What clients saw of a store that failed under a steady load."""

from __future__ import annotations

from typing import Literal

from storeproof.outcome import Outcome
from storeproof.result.part import Gate, Part


class OutagePart(Part):
    """Requests that were due before the fault, in the outage, or after it.

    Response times are in microseconds, from when a request was due; None where there was no answer. With some hundred requests the 99th
    percentile is one of the slowest that were seen, and no estimate of the store's tail.
    """

    requests: int
    p50_us: float | None
    p99_us: float | None
    max_us: float | None


class OutageBin(Part):
    """A tenth of a second: answers and errors that came in it, and the response times of the requests that were due in it."""

    second: float
    """Its begin, from the fault on; negative before."""
    ok: int
    errors: int
    p50_us: float | None
    max_us: float | None


class OutageEvent(Part):
    """A moment of the fault."""

    name: str
    second: float
    """From the fault on."""


class OutageRecord(Part):
    """One fault under an open loop of puts and gets."""

    fault: Literal["crash", "pause", "restart"]
    """`crash`: SIGKILL, and a start at once. `pause`: SIGSTOP for a second. `restart`: a clean stop and a start."""
    outcome: Outcome
    clients: int
    rate: int
    """Requests a second that were due, of all clients together."""
    unavailable_seconds: float
    """From the last answer before the store was down to the first one after."""
    degraded_seconds: float | None
    """From the fault until responses were as before again and stayed so for a second; None where that was not seen."""
    errors: int
    missed_sends: int
    """Requests that were due and not sent until the end of the watch."""
    before: OutagePart
    during: OutagePart
    """From the fault until the first answer after it was down."""
    after: OutagePart
    acknowledged: int
    """Writes."""
    unknown: int
    """Writes without an answer: they may have happened."""
    lost: int | None
    """Acknowledged writes that were not there, or not whole, when they were read back; None where the store did not come back for that."""
    claimed: bool
    """Whether the variant promises that none is lost by this fault."""
    gates: dict[str, Gate]
    events: list[OutageEvent]
    bins: list[OutageBin]
    detail: str
