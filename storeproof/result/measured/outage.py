"""An outage as its clients saw it, under a steady open loop."""

from __future__ import annotations

from typing import Literal

from storeproof.outcome import Outcome
from storeproof.result.part import Gate, ResultPart


class OutagePart(ResultPart):
    """Requests due before the fault, during the outage, or after it.

    Response times are in microseconds from the due time; None if there was no answer. With a few hundred requests the 99th percentile is
    one of the slowest, and no estimate of the store's tail latency.
    """

    requests: int
    p50_us: float | None
    p99_us: float | None
    max_us: float | None


class OutageBin(ResultPart):
    """One tenth of a second: answers and errors in it, and response times of the requests due in it."""

    second: float
    """Its start, relative to the fault."""
    ok: int
    errors: int
    p50_us: float | None
    max_us: float | None


class OutageEvent(ResultPart):
    """An event of the outage."""

    name: str
    second: float
    """Relative to the fault."""


class OutageRecord(ResultPart):
    """One outage under an open loop of puts and gets."""

    fault: Literal["crash", "pause", "restart"]
    """`crash`: SIGKILL and an immediate start. `pause`: SIGSTOP for a second. `restart`: a clean stop and a start."""
    outcome: Outcome
    clients: int
    rate: int
    """Requests per second due, of all clients together."""
    unavailable_seconds: float
    """From the last answer before the store was down to the first answer after."""
    degraded_seconds: float | None
    """From the fault until response times were as before and stayed so for a second; None if that was not observed."""
    errors: int
    missed_sends: int
    """Requests that were due and never sent."""
    before: OutagePart
    during: OutagePart
    """From the fault to the first answer after the store was down."""
    after: OutagePart
    acknowledged: int
    """Acknowledged writes."""
    unknown: int
    """Writes without a reply, which may have happened."""
    lost: int | None
    """Acknowledged writes missing or damaged when read back; None if the store did not come back."""
    claimed: bool
    """Whether the variant claims that this fault loses none."""
    gates: dict[str, Gate]
    events: list[OutageEvent]
    bins: list[OutageBin]
    detail: str
