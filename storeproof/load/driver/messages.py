"""The messages between the driver engine and its worker processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from hdrh.histogram import HdrHistogram

from storeproof.contract.address import Address
from storeproof.contract.values import Layout
from storeproof.load.engine import OperationCounts, Plan
from storeproof.spec.store import Target


@dataclass(frozen=True)
class ReachMessage:
    target: Target
    address: Address


@dataclass(frozen=True)
class ConnectMessage:
    """Open sessions for these clients; those that are open stay."""

    clients: tuple[int, ...]


@dataclass(frozen=True)
class Fill:
    """Write the loaded records of these ranges, each by one client."""

    layout: Layout
    ranges: tuple[tuple[int, range], ...]
    article_store: Path | None = None
    fixed_numbers: bool = False


@dataclass(frozen=True)
class Go:
    """Run these clients of a plan, all from one moment of the monotonic clock."""

    plan: Plan
    clients: tuple[int, ...]
    start_ns: int


@dataclass(frozen=True)
class Stop:
    """End the round now. The round answers, not the stop."""


Command = ReachMessage | ConnectMessage | Fill | Go | Stop


@dataclass(frozen=True)
class ProgressMessage:
    """Data is being loaded: the records so far."""

    records: int


@dataclass(frozen=True)
class Done:
    """A command was carried out, and has no result."""


@dataclass(frozen=True)
class FailureMessage:
    """A command could not be carried out."""

    kind: str
    """The exception's name."""
    message: str


@dataclass
class WorkerResult:
    """What the clients of one worker did in a round; times in seconds, summed over clients and requests."""

    operations: list[OperationCounts]
    """In the order of the plan's mix."""
    throughput: float
    request_rate: float
    requests: int
    busy_seconds: float
    pause_seconds: float
    cpu_seconds: float
    elapsed_seconds: float
    """From the common start to the last reply."""
    positions: dict[int, int] = field(default_factory=dict)
    removed: dict[int, int] = field(default_factory=dict)
    indeterminate: list[int] = field(default_factory=list)
    samples: list[str] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    """Clients whose sessions were closed, since a reply of theirs was lost."""
    schedule_lag: HdrHistogram | None = None
    missed_sends: int = 0


Reply = ProgressMessage | Done | FailureMessage | WorkerResult
