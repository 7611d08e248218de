"""The result format. Its field names are an interface: other tools read them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from storeproof.blame import Party
from storeproof.outcome import IDLE, Outcome, Stage
from storeproof.result.outage import OutageRecord
from storeproof.result.part import Gate, Part
from storeproof.spec.guarantee import LADDER
from storeproof.stats.grade import Grade
from storeproof.stats.latency import decode

FORMAT = "2.1"


def _readable(histogram: str) -> str:
    """Validate a histogram when the file is read, since plots decode it."""
    try:
        decode(histogram)
    except Exception:  # noqa: BLE001 - base64, zlib and the codec each have their own
        raise ValueError("is not an HdrHistogram V2 in base64") from None
    return histogram


class EditionUsed(Part):
    """The specification of the run."""

    version: str
    hash: str


class CorpusUsed(Part):
    """An imported dump of articles."""

    name: str
    """File name without directory."""
    language: str
    pages: int
    skipped_pages: int
    """Pages that are not articles."""
    checksum: str
    """SHA-256 of the articles."""


class RunInfo(Part):
    """The run."""

    id: str
    started: str
    """ISO 8601, UTC."""
    seconds: float
    command: str
    """As typed, with credentials masked."""
    seed: int
    scale: str
    storeproof: str
    """The version of storeproof."""
    beyond_scale: list[str] = Field(default_factory=list)
    """Ids of workload cases that this scale leaves out and --scale=standard measures."""
    corpus: list[CorpusUsed] = Field(default_factory=list)
    """Imported dumps; without any, articles are generated."""


class NoiseFloor(Part):
    """How far two measurements of the same load differ, on a server that does nothing."""

    ratio: float
    """Ratio of the medians over interleaved rounds."""
    low: float
    high: float
    """Its 95 % interval."""

    @property
    def factor(self) -> float:
        """The factor by which two measurements may differ."""
        return max(self.high, 1 / self.low)


class Environment(Part):
    """The machine, and its physical limits."""

    cpu: str
    cores: int
    memory_bytes: int
    kernel: str
    disk: str
    filesystem: str
    fsync_us: float | None
    """Median of a 4 KiB append and fsync in the data directory; None where it could not be measured."""
    loopback_us: float | None
    """Median of a one-byte round trip over loopback TCP; None where it could not be measured."""
    noise: NoiseFloor | None = None
    """None where it was not measured."""
    python: str
    packages: dict[str, str]


class OutcomeRecord(Part):
    """The outcome of one case."""

    id: str
    revision: int
    stage: Stage
    outcome: Outcome
    detail: str
    seconds: float
    named: Party | None = None
    """Who is to blame, where an exception ended the case."""
    spoiled: int = 0
    """Attempts or rounds spoiled by the machine or without an answer: repeated, and counted neither for nor against the store."""


class CapabilityResult(Part):
    """A capability with the roll-up of its cases; the cases themselves are in `outcomes`."""

    capability: str
    """Full name, `group.capability`."""
    claimed: bool
    outcome: Outcome
    """The worst of its cases; a case without an outcome is `not_run`."""
    cases: int
    passed: int
    """Cases with `pass` or `undeclared`."""


class Harm(Part):
    """Writes at risk under faults, and anomalies: of one fault, or summed over all."""

    rounds: int
    acknowledged: int
    unknown: int
    """Operations whose reply was lost, which may have happened."""
    lost: int
    resurrected: int
    reverted: int
    torn: int
    invented: int
    miscounted: int
    """Counters outside [acknowledged, acknowledged + unknown]."""
    split: int = 0
    """Batches and transactions of which only a part was present."""


class WorstLoss(Part):
    """The worst loss of one fault."""

    shape: str
    """`suffix`: everything after some moment. `holes`: some writes, although later ones are present. `unstartable`: the store did not
    start."""
    records: int
    """Acknowledged operations that are certainly lost."""
    window_ms: float
    """From the acknowledgement of the oldest lost one to the fault."""


class GuaranteeRecord(Harm):
    """The results of one fault."""

    guarantee: str
    outcome: Outcome
    faults_by_load: dict[str, int] = Field(default_factory=dict)
    """Faults by load shape: `burst`, `stream`, `bulk`, `compaction`; their sum is `rounds`."""
    power_cut_method: str | None = None
    """The file system of the power cut, in words; None for other faults."""
    second_faults: int = 0
    """Faults during recovery; not counted in `rounds`."""
    faults_with_loss: int = 0
    """Rounds with a loss."""
    loss_bound: float | None = None
    """Upper 95 % confidence bound of the share of such faults with a loss (Clopper and Pearson); None without evidence."""
    worst_loss: WorstLoss | None = None
    recovery_seconds: list[float]
    """From the start after the fault to the first answer, per round."""
    spoiled: int = 0
    """Rounds spoiled by the machine or without an answer; not counted in `rounds`."""
    detail: str


class Durability(Harm):
    """Claimed and proven guarantees, with sums over all faults."""

    claimed: str
    proven: str | None
    """The highest guarantee that held in this run, with all below it; `volatile` if the lowest with a fault was refuted; None without
    evidence for it."""
    guarantees: list[GuaranteeRecord]

    @property
    def shown(self) -> str:
        """`proven` in words, or whether it was tried at all."""
        if self.proven is not None:
            return self.proven
        lowest = next((each for each in self.guarantees if each.guarantee == LADDER[1]), None)
        return "not tried" if lowest is None or lowest.outcome in IDLE else "not proven"


class AccessRecord(Part):
    """One operation of a history, on its key."""

    client: int
    """-1 for an increment that stands for all earlier ones."""
    action: str
    value: str = ""
    expected: str = ""
    amount: int = 0
    answer: str | int | bool | None = None
    answer_known: bool
    """Whether the answer is known and part of the contradiction."""
    outcome: Literal["ok", "refused", "unknown"]
    invoked_us: float
    """Microseconds since the first request of the history."""
    completed_us: float | None = None
    contradicts: bool = False
    """Without this operation, an order explains all others."""


class HistoryRecord(Part):
    """The smallest part of the history of a key that no order explains: it is not linearizable."""

    case: str
    key: str
    operations: int
    """Number of operations in the whole history."""
    fault_us: float | None = None
    """Time of the fault, if there was one."""
    accesses: list[AccessRecord]


class Interval(Part):
    """A median over rounds with its 95 % interval."""

    median: float
    low: float
    high: float
    unit: str


class Latency(Part):
    """Percentiles in microseconds over the merged histograms of all rounds; None with fewer than 100 samples above it."""

    mean: float | None = None
    """None in results of formats before 2.1."""
    p50: float | None
    p95: float | None
    p99: float | None
    p999: float | None
    max: float
    samples: int


class TrendRecord(Part):
    """How the rounds changed from one to the next (Mann-Kendall test)."""

    change: float
    """Share by which the rate changes from one round to the next."""
    probability: float
    """Of a trend at least as strong in rounds without one."""
    drifting: bool
    """Whether the trend is significant: there is no one rate."""


class Round(Part):
    """One round: the sample of all statistics."""

    seconds: float
    operations: int
    """Successful operations; a batch counts its records."""
    throughput: float
    errors: int
    misses: int


class MixPart(Part):
    """One operation of a mix."""

    name: str
    operation: str
    records: int
    """Records of successful requests, over all rounds."""
    errors: int
    misses: int
    latency_us: Latency


class Measurement(Part):
    """One workload with one number of clients."""

    workload: str
    kind: str = ""
    """Of the workload; empty in results before edition 2026.11.12."""
    title: str
    model: str
    record: str = ""
    """The variation of the model's records: `size-1000`, `fields-100`, `depth-3`."""
    operation: str
    indexes: int
    batch: int
    clients: int
    pipeline: int = 1
    """Requests in flight per client."""
    engine: Literal["driver", "wire", "wire-py"]
    engine_reason: str = ""
    """Why the driver engine was used in place of the wire engine."""
    ceiling: float | None = None
    """The client ceiling: requests per second of the same load generator against a server that does nothing."""
    ceiling_reason: str = ""
    """Why the ceiling was not measured."""
    load_model: Literal["closed", "open"]
    rate: float | None = None
    """Offered requests per second; open loop only."""
    loaded: int | None = None
    """Records before the first request; missing in results of editions before 2026.11.9."""
    payload_bytes: int
    """Payload of one record."""
    corpus: str | None = None
    """Origin of the articles, for models with full-text search."""
    rounds: list[Round]
    interleaved_with: list[str] = Field(default_factory=list)
    """Other stores, as `store:variant`, whose rounds were interleaved: the n-th rounds of all were measured in one block."""
    throughput: Interval
    latency_us: Latency
    """Of all operations: from sending a request to its reply; in an open loop from the due time."""
    service_us: Latency | None = None
    """Open loop: of the same requests, from their sending."""
    schedule_lag_us: Latency | None = None
    """Open loop: from when a request was due and a client was free to its sending: the load generator's own delay."""
    missed_sends: int = 0
    """Open loop: requests that were due and never sent."""
    parts: list[MixPart] = Field(default_factory=list)
    """The operations of a mix of several."""
    errors: int
    misses: int
    gates: dict[str, Gate]
    verified: bool
    """Whether the audit after the rounds found the data complete."""
    grade: Grade
    """How precise the median is, by half its interval: A up to 5 %, B up to 10 %, C up to 20 %, D wider."""
    at_least: bool
    """Whether the load generator was the limit: the store is at least this fast."""
    trend: TrendRecord
    invalid: list[str]
    """Why the number is not the rate of what was to be measured: gates that failed, or `audit`; empty for a valid one."""
    histogram: Annotated[str, AfterValidator(_readable)]
    """HdrHistogram V2 log line (base64) of all rounds, in nanoseconds."""


class ScalingRecord(Part):
    """The time of the same answer with more and more records, of one capability."""

    capability: str
    indexes: int
    seconds: dict[str, float]
    """Median seconds by number of records, ascending."""

    factor: float
    """The last time divided by the first."""
    sublinear: bool
    """Whether the factor is so small that the store cannot have read all records."""


class ProfileVerdict(Part):
    """Whether a store conforms to a profile."""

    profile: str
    verdict: Literal["conforms", "does_not_conform", "incomplete"]
    missing: list[str]


class StoreResult(Part):
    """One store in one variant."""

    store: str
    title: str
    variant: str
    topology: str
    version: str | None
    """Product and version as the server reports them; None if it was never reached."""
    launch: str | None
    image_digest: str | None = None
    settings: dict[str, str]
    """Read back from the running server."""
    durability: Durability
    capabilities: list[CapabilityResult]
    outcomes: list[OutcomeRecord]
    counts: dict[Outcome, int]
    measurements: list[Measurement]
    scaling: list[ScalingRecord] = Field(default_factory=list)
    outages: list[OutageRecord] = Field(default_factory=list)
    histories: list[HistoryRecord] = Field(default_factory=list)
    """Histories that are not linearizable, of failed cases."""
    profiles: list[ProfileVerdict]


class Result(Part):
    """The whole of `result.json`."""

    format: str = Field(default=FORMAT)
    edition: EditionUsed
    run: RunInfo
    environment: Environment
    stores: list[StoreResult]
