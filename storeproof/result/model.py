"""The result format. Its field names are an interface: other tools read them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from storeproof.blame import Party
from storeproof.outcome import IDLE, Outcome, Stage
from storeproof.result.outage import OutageRecord
from storeproof.result.part import Gate, Part
from storeproof.spec.guarantee import LADDER
from storeproof.stats.latency import decode

FORMAT = "2.0"


def _readable(histogram: str) -> str:
    """The plots decode it: what is none is found when the file is read."""
    try:
        decode(histogram)
    except Exception:  # noqa: BLE001 - base64, zlib and the codec each have their own
        raise ValueError("is no HdrHistogram V2 in base64") from None
    return histogram


class EditionUsed(Part):
    """The specification that the run stood on."""

    version: str
    hash: str


class CorpusUsed(Part):
    """A dump whose articles were loaded."""

    name: str
    """Of the file, without where it is."""
    language: str
    pages: int
    skipped_pages: int
    """Pages before the last one that are no articles."""
    checksum: str
    """SHA-256 over the articles."""


class RunInfo(Part):
    """Which run this was."""

    id: str
    started: str
    """ISO 8601, UTC."""
    seconds: float
    command: str
    """As typed; credentials are replaced."""
    seed: int
    scale: str
    storeproof: str
    """The version of the machinery."""
    beyond_scale: list[str] = Field(default_factory=list)
    """Ids of workload cases that this scale leaves out and --scale=standard measures."""
    corpus: list[CorpusUsed] = Field(default_factory=list)
    """Of the command line; without any, articles are generated."""


class NoiseFloor(Part):
    """How far two figures of the same thing were apart: the same load twice, on a server that does nothing."""

    ratio: float
    """Of the medians over rounds that took turns."""
    low: float
    high: float
    """Its 95 % interval."""

    @property
    def factor(self) -> float:
        """By which two such figures may be apart."""
        return max(self.high, 1 / self.low)


class Environment(Part):
    """The machine, and the physical limits it put on the run."""

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
    """What became of one case."""

    id: str
    revision: int
    stage: Stage
    outcome: Outcome
    detail: str
    seconds: float
    named: Party | None = None
    """Who is to blame, where an exception ended the case."""
    spoiled: int = 0
    """Attempts or rounds that the machine spoiled, or that got no answer: they were repeated, and count neither for nor against the
    store."""


class CapabilityResult(Part):
    """A capability, claimed or not, with the roll-up of its cases; the cases themselves are among the outcomes."""

    capability: str
    """Full name, `group.capability`."""
    claimed: bool
    outcome: Outcome
    """The worst of its cases; a case that left no outcome is `not_run`."""
    cases: int
    passed: int
    """Cases answered right: `pass` or `undeclared`."""


class Harm(Part):
    """What was at risk under faults, and what became of it: one fault's, or the sums over all of them."""

    rounds: int
    acknowledged: int
    unknown: int
    """Operations whose reply was lost: they may have happened."""
    lost: int
    resurrected: int
    reverted: int
    torn: int
    invented: int
    miscounted: int
    """Counters outside [acknowledged, acknowledged + unknown]."""
    split: int = 0
    """Batches and transactions of which a part was there."""


class WorstLoss(Part):
    """The gravest loss that one fault caused."""

    shape: str
    """`suffix`, `holes` or `unstartable`: all from some moment on; some of it, though what came later is there; or the store did not
    start again."""
    records: int
    """Acknowledged operations that are certainly gone."""
    window_ms: float
    """From the acknowledgement of the oldest of them to the fault."""


class GuaranteeRecord(Harm):
    """What one fault did."""

    guarantee: str
    outcome: Outcome
    faults_by_load: dict[str, int] = Field(default_factory=dict)
    """How often it struck, by what went on then: `burst`, `stream`, `bulk`, `compaction`; together they are `rounds`."""
    power_cut_method: str | None = None
    """The file system that the power was cut of, in words; None for other faults."""
    second_faults: int = 0
    """How often it struck again during the recovery; not counted in `rounds`."""
    faults_with_loss: int = 0
    """How many of `rounds` cost anything."""
    loss_bound: float | None = None
    """The share of such faults that cost something is below this with 95 % confidence (Clopper and Pearson); None without evidence."""
    worst_loss: WorstLoss | None = None
    recovery_seconds: list[float]
    """From the start after the fault until it answered, one per round."""
    spoiled: int = 0
    """Rounds that the machine spoiled, or that got no answer; they are not in `rounds`."""
    detail: str


class Durability(Harm):
    """Claimed against proven, with the sums over all faults that were struck."""

    claimed: str
    proven: str | None
    """The highest guarantee that held in this run, with all below it; `volatile` where the lowest that has a fault was refuted; None where
    that one was not tried, or left open."""
    guarantees: list[GuaranteeRecord]

    @property
    def shown(self) -> str:
        """`proven` in words; where there is none, whether it was tried at all."""
        if self.proven is not None:
            return self.proven
        lowest = next((each for each in self.guarantees if each.guarantee == LADDER[1]), None)
        return "not tried" if lowest is None or lowest.outcome in IDLE else "not proven"


class AccessRecord(Part):
    """One operation of a history, on the key that the history is of."""

    client: int
    """-1 for an increment that stands for all that were done before."""
    action: str
    value: str = ""
    expected: str = ""
    amount: int = 0
    answer: str | int | bool | None = None
    answer_known: bool
    """Whether the answer counts: that of a lost reply does not, nor one that the contradiction does without."""
    outcome: Literal["ok", "refused", "unknown"]
    invoked_us: float
    """Microseconds since the first request of the history."""
    completed_us: float | None = None
    contradicts: bool = False
    """Without this one there is an order that explains all others."""


class HistoryRecord(Part):
    """The smallest part of what was done to a key that no order explains: it is not linearizable."""

    case: str
    key: str
    operations: int
    """Of the whole history that it is a part of."""
    fault_us: float | None = None
    """When a fault struck, if one did."""
    accesses: list[AccessRecord]


class Interval(Part):
    """A median over rounds with its 95 % interval."""

    median: float
    low: float
    high: float
    unit: str


class Latency(Part):
    """Percentiles in microseconds over all rounds' merged histograms; None with fewer than 100 samples beyond it."""

    p50: float | None
    p95: float | None
    p99: float | None
    p999: float | None
    max: float
    samples: int


class Round(Part):
    """One round: the sample of all statistics."""

    seconds: float
    operations: int
    """Successful ones; a batch counts its records."""
    throughput: float
    errors: int
    misses: int


class MixPart(Part):
    """One operation of a mix, by itself."""

    name: str
    operation: str
    records: int
    """Of successful requests, over all rounds."""
    errors: int
    misses: int
    latency_us: Latency


class Measurement(Part):
    """One workload at one number of clients."""

    workload: str
    kind: str = ""
    """Of the workload; empty in results before edition 2026.11.12."""
    title: str
    model: str
    record: str = ""
    """How its records differ from those of the model: `size-1000`, `fields-100`, `depth-3`."""
    operation: str
    indexes: int
    batch: int
    clients: int
    pipeline: int = 1
    """Requests that each client has in flight."""
    engine: Literal["driver", "wire", "wire-py"]
    engine_reason: str = ""
    """Why the store's client put the load on, where the wire engine would have."""
    ceiling: float | None = None
    """Requests per second that the same load generator reached with these requests against a server that does nothing."""
    ceiling_reason: str = ""
    """Why that was not measured."""
    load_model: Literal["closed", "open"]
    rate: float | None = None
    """Offered requests per second; open loop only."""
    loaded: int | None = None
    """Records that were there before the first request; not in results of editions before 2026.11.9."""
    payload_bytes: int
    """Of one record."""
    corpus: str | None = None
    """Where the texts came from, for a model whose texts are searched."""
    rounds: list[Round]
    interleaved_with: list[str] = Field(default_factory=list)
    """The stores, as `store:variant`, whose rounds took turns with these: the n-th of each were measured one after the other."""
    throughput: Interval
    latency_us: Latency
    """Of all operations together: from the sending of a request to its reply, and in an open loop from when it was due."""
    service_us: Latency | None = None
    """Open loop: of the same requests from their sending."""
    schedule_lag_us: Latency | None = None
    """Open loop: from when requests were due, and a client free to send them, to their sending: a delay of the load generator's own."""
    missed_sends: int = 0
    """Open loop: requests that were due and never sent."""
    parts: list[MixPart] = Field(default_factory=list)
    """The operations of a mix that has several."""
    errors: int
    misses: int
    gates: dict[str, Gate]
    verified: bool
    """The data was audited after the timed rounds and found whole."""
    histogram: Annotated[str, AfterValidator(_readable)]
    """HdrHistogram V2 log line (base64) of all rounds, in nanoseconds."""


class ScalingRecord(Part):
    """How long the answer to a question of one capability took as the data grew."""

    capability: str
    indexes: int
    seconds: dict[str, float]
    """Median by number of records, in the order of the numbers."""

    factor: float
    """How many times as long the last took as the first."""
    sublinear: bool
    """Whether that is so little that the store cannot have gone through all records."""


class ProfileVerdict(Part):
    """Whether a store meets a profile."""

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
    """Product and version as the server says; None where it was never reached."""
    launch: str | None
    image_digest: str | None = None
    settings: dict[str, str]
    """Read back from the live store."""
    durability: Durability
    capabilities: list[CapabilityResult]
    outcomes: list[OutcomeRecord]
    counts: dict[Outcome, int]
    measurements: list[Measurement]
    scaling: list[ScalingRecord] = Field(default_factory=list)
    outages: list[OutageRecord] = Field(default_factory=list)
    histories: list[HistoryRecord] = Field(default_factory=list)
    """Of cases that failed because a history was not linearizable."""
    profiles: list[ProfileVerdict]


class Result(Part):
    """The whole of `result.json`."""

    format: str = Field(default=FORMAT)
    edition: EditionUsed
    run: RunInfo
    environment: Environment
    stores: list[StoreResult]
