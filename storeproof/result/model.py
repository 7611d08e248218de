"""The result format. Its field names are an interface: other tools read them."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from storeproof.blame import Party
from storeproof.outcome import IDLE, Lack, Outcome, Stage, is_failure
from storeproof.result.machine import Environment
from storeproof.result.measured.cache import CacheRecord
from storeproof.result.measured.case_records import HistoryRecord, Lacked, ScalingRecord, StaleReadCounts
from storeproof.result.measured.cluster_round import CaseRounds, ClusterRoundRecord
from storeproof.result.measured.crash_states import CrashStateCounts
from storeproof.result.measured.damage import DamageCounts
from storeproof.result.measured.first_screen import FirstScreen
from storeproof.result.measured.io_errors import IoErrorCounts
from storeproof.result.measured.isolation import IsolationCounts
from storeproof.result.measured.origin import OriginRecord
from storeproof.result.measured.outage import OutageRecord
from storeproof.result.measurement import JointLoad, Measurement
from storeproof.result.missing import MissingDemand, Way
from storeproof.result.older_formats import SAID_IN_DETAILS, missing_of, said_in, sentence_of, stale_reads_of
from storeproof.result.part import ResultPart
from storeproof.result.product import product
from storeproof.spec.edition import FROZEN_PATTERN
from storeproof.spec.guarantee import LADDER
from storeproof.spec.standing import Standing
from storeproof.support import Support

FORMAT = "2.5"


class EditionUsed(ResultPart):
    """The specification of the run."""

    version: str
    hash: str

    @property
    def name(self) -> str:
        """`2026.12`; `2026.11.20, draft`: the number of a draft is no date, and none is older than the frozen edition for its number."""
        return self.version if re.fullmatch(FROZEN_PATTERN, self.version) else f"{self.version}, draft"


class CorpusUsed(ResultPart):
    """An imported dump of articles."""

    name: str
    """File name without directory."""
    language: str
    pages: int
    skipped_pages: int
    """Pages that are not articles."""
    checksum: str
    """SHA-256 of the articles."""


class RunInfo(ResultPart):
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
    sources: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of what judged all stores: `storeproof` (the machinery), `suites`, and `native`, the compiled part; empty in results of
    formats before 2.2."""
    evidence: str | None = None
    """SHA-256 of the file beside the result that has the histories of the durability rounds; None where there were none, and in results
    of formats before 2.2."""
    corpus: list[CorpusUsed] = Field(default_factory=list)
    """Imported dumps; without any, articles are generated."""


class OutcomeRecord(ResultPart):
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
    standing: Standing | None = None
    """Why the case decides nothing; None where it decides, and in results of formats before 2.3."""
    stale_reads: StaleReadCounts | None = None
    """None where reads were not watched. Of a result of a format before 2.5, what its detail says."""
    refusal: str | None = None
    """Why an operation is not offered, without the operation, which the detail names first; None where it names none. Of a result without
    the field, what its detail says."""
    damage: DamageCounts | None = None
    """None where no file was damaged. Of a result without the field, what its detail says."""
    crash_states: CrashStateCounts | None = None
    """None where no disk was recorded."""
    io_errors: IoErrorCounts | None = None
    """None where no disk failed."""
    isolation: IsolationCounts | None = None
    """None where no level was tried by random transactions."""
    lacked: Lacked | None = None
    """Of `not_run` what was lacking; None where that excuses no case. Of a result without the field, what its detail says."""

    again: str = ""
    """The command that repeats it alone, where its choices are drawn. Of a result without the field, its detail ends with the command."""

    @property
    def told(self) -> str:
        """The detail, and how to repeat the case."""
        return f"{self.detail}\nreproduce: {self.again}" if self.again else self.detail

    @property
    def decides(self) -> bool:
        """Whether verdicts of this run rest on it."""
        return self.standing is None

    @property
    def why(self) -> str:
        """In one line: the refusal, else the first line of the detail."""
        return self.refusal or sentence_of(self.detail)

    @property
    def is_begun(self) -> bool:
        """Whether the run came to it before it ended."""
        return self.lacked is None or self.lacked.what is not Lack.BEGUN

    @property
    def is_failure(self) -> bool:
        return is_failure(self.outcome, decides=self.decides)


class CapabilityResult(ResultPart):
    """A capability with the roll-up of its cases; the cases themselves are in `outcomes`."""

    capability: str
    """Full name, `group.capability`."""
    claimed: bool
    outcome: Outcome
    """The worst of its cases; a case without an outcome is `not_run`."""
    cases: int
    passed: int
    """Cases with `pass` or `undeclared`."""


class Harm(ResultPart):
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


class WorstLoss(ResultPart):
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
    lost_operations: int | None = None
    """Acknowledged operations that are certainly lost, those too that a lost one had overwritten; `lost` counts records. Without the
    rounds after which the store did not start. None in results before 2026-11-28."""
    loss_bound: float | None = None
    """Upper 95 % confidence bound of the share of such faults with a loss (Clopper and Pearson); None without evidence."""
    worst_loss: WorstLoss | None = None
    recovery_seconds: list[float]
    """From the start after the fault to the first answer, per round. Of a cluster whose primary was struck: from the fault to the first
    acknowledgement by another."""
    without_failover: int | None = None
    """Of a cluster: rounds in which no other node took writes in time. None in results before 2026-11-30."""
    spoiled: int = 0
    """Rounds spoiled by the machine or without an answer; not counted in `rounds`."""
    cluster_rounds: list[ClusterRoundRecord] = Field(default_factory=list)
    """Of a cluster whose primary was struck: each round after which all records were read; empty in results of formats before 2.4."""
    detail: str


class Citation(ResultPart):
    """Another result of the same store, which a run rests on for what it did not verify itself."""

    run: str
    """The id of the cited run."""
    started: str
    """ISO 8601, UTC."""
    scale: str
    seed: int
    sha256: str
    """Of the cited file, as it was read."""
    defect: str = ""
    """What kept the store from more there: of a known failure its issue."""


class Durability(Harm):
    """Claimed and proven guarantees, with sums over all faults."""

    claimed: str
    proven: str | None
    """The highest guarantee that held, with all below it, in this run or in the one that is cited; `volatile` if the lowest with a fault
    was refuted, or if no more is claimed; None without evidence for it."""
    cited: Citation | None = None
    """The result that `proven` is from; None where this run has its own evidence, or none."""
    guarantees: list[GuaranteeRecord]
    failovers: list[CaseRounds] = Field(default_factory=list)
    """Transfers and reads in the rounds of a cluster; empty in results of formats before 2.4."""

    @property
    def shown(self) -> str:
        """`proven` in words, or whether it was tried at all."""
        if self.proven is not None:
            return self.proven
        lowest = next((each for each in self.guarantees if each.guarantee == LADDER[1]), None)
        return "not tried" if lowest is None or lowest.outcome in IDLE else "not proven"


class ProfileVerdict(ResultPart):
    """Whether a store conforms to a profile."""

    profile: str
    verdict: Literal["conforms", "does_not_conform", "incomplete"]
    """By the core of its capabilities and all else that it demands; what is extended never decides."""
    missing: list[Annotated[MissingDemand, BeforeValidator(missing_of)]]
    """What refutes before what is open; empty where it conforms."""
    ways: list[Way] = Field(default_factory=list)
    """Of the demands with alternatives those that are met; empty in results of formats before 2.3."""
    extended: dict[str, Support] = Field(default_factory=dict)
    """By extended demand; empty in results of formats before 2.3."""


class StoreResult(ResultPart):
    """One store in one variant."""

    store: str
    title: str
    variant: str
    disk: str | None = None
    """The name of the disk that its data was on, of several (`--disk`); None where none was named."""
    topology: str
    version: str | None
    """Product and version as the server reports them; None if it was never reached."""
    launch: str | None
    image_digest: str | None = None
    binary_digest: str | None = None
    """SHA-256 of the server's binary, of a local process, or of those of all its servers; of a library, that of the interpreter which hosts
    it."""
    origin: OriginRecord | None = None
    """Whose server it was; None if it was never reached, and in results before 2026-12-01."""
    settings: dict[str, str]
    """Read back from the running server."""
    timeouts: dict[str, str] = Field(default_factory=dict)
    """Of a cluster that fails over by itself: those that decide how soon it does, read back. Empty in results before 2026-12-01."""
    durability: Durability
    sources: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of the store's file, those that it extends, and all modules of its adapter, by name; a vendor's own begin with `own/`."""
    operations: dict[str, dict[str, Outcome]] = Field(default_factory=dict)
    """By model and operation: the worst outcome of the correctness cases of this run that use it. Later runs may cite it."""
    cites: Citation | None = None
    """The result whose correctness stands for what this run did not verify itself; what is cited is in no other field but
    `durability.proven`."""
    capabilities: list[CapabilityResult]
    outcomes: list[OutcomeRecord]
    counts: dict[Outcome, int]
    measurements: list[Measurement]
    scaling: list[ScalingRecord] = Field(default_factory=list)
    outages: list[OutageRecord] = Field(default_factory=list)
    joint: list[JointLoad] = Field(default_factory=list)
    """Loads of several roles at the same time, of which this store had one or more; they are in no other field."""
    cache: CacheRecord = Field(default_factory=CacheRecord)
    """Of a composite store; empty in results of formats before 2.2."""
    histories: list[HistoryRecord] = Field(default_factory=list)
    """Histories that are not linearizable, of failed cases."""
    profiles: list[ProfileVerdict]
    first_screen: FirstScreen | None = None
    """What all this says on the site's first screen; None in results of formats before 2.5."""

    @property
    def configuration(self) -> str:
        """The variant; on one of several disks `variant@disk`."""
        return self.variant if self.disk is None else f"{self.variant}@{self.disk}"

    @property
    def name(self) -> str:
        """`store:variant`, or `store:variant@disk`: no other of the run has it."""
        return f"{self.store}:{self.configuration}"

    @property
    def product(self) -> str:
        """Its name and version, in words."""
        return product(self.title, self.version)


class Result(ResultPart):
    """The whole of `result.json`."""

    format: str = Field(default=FORMAT)
    edition: EditionUsed
    run: RunInfo
    environment: Environment
    stores: list[StoreResult]

    @model_validator(mode="after")
    def _reads_sentences_of_older_formats_alone(self) -> Self:
        for outcome in (each for store in self.stores for each in store.outcomes):
            if unsaid := SAID_IN_DETAILS - outcome.model_fields_set:
                said = said_in(outcome.id, outcome.outcome, outcome.detail)
                outcome.__dict__.update({field: said[field] for field in unsaid})
            if self.format != FORMAT:
                outcome.__dict__["stale_reads"] = stale_reads_of(outcome.id, outcome.detail)  # not as set: it is written as it was read
        if self.format == FORMAT and any(each.sentence for store in self.stores for verdict in store.profiles for each in verdict.missing):
            raise ValueError(f"what is missing of a profile is a sentence, which formats before {FORMAT} have")
        return self
