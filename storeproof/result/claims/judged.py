"""What became of each published claim. The JSON page is this, field by field."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from storeproof.result.part import ResultPart

FORMAT = "1.2"


class ClaimVerdict(StrEnum):
    """Of one claim, or of one of its workloads."""

    REPRODUCED = "reproduced"
    REFUTED = "refuted"
    CANNOT_SAY = "cannot say"


class SideFound(ResultPart):
    """The measurement of one side."""

    name: str
    """`store:variant`."""
    version: str
    run: str
    workload: str
    clients: int
    indexes: int
    pipeline: int
    rate: float
    """Median over rounds, in operations per second."""
    low: float
    high: float
    grade: str
    at_least: bool
    wait_us: float | None = None
    """Of a claim on waits: the mean over all rounds, in microseconds; None where none was seen."""
    proven: str
    """The durability that was proven in this run, or that none was."""


class RatioFound(ResultPart):
    """A to B, for one workload."""

    a: SideFound
    b: SideFound
    ratio: float | None = None
    """None where the comparison is refused."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval; None where there is no bound, since a side is at least as fast as its number."""
    interleaved: bool = False
    verdict: ClaimVerdict
    reason: str = ""
    """Why it cannot be said."""


class JudgedClaim(ResultPart):
    """One claim with its verdict, and with what that rests on."""

    claim: str
    source: str
    year: int | None
    title: str
    basis: str
    """`measured`, `estimated` or only `stated`, by the text."""
    figure: float | None = None
    """Of A to B, as the text gives it."""
    figure_a: float | None = None
    figure_b: float | None = None
    """Operations per second, where the text gives both; of a claim on waits, milliseconds."""
    wait: str = ""
    """Of a claim on waits: of which I/O, such as `journal`."""
    above: float | None = None
    below: float | None = None
    """Between which the ratio reproduces the claim; None where there is no bound."""
    verdict: ClaimVerdict
    reason: str = ""
    """Why it cannot be said."""
    ratios: list[RatioFound] = Field(default_factory=list)
    """Of each of its workloads that was measured on both sides."""
    guarantee: str = ""
    """Of a claim on durability: what acknowledged writes are said to survive."""
    kept: str = ""
    """What was kept under faults, for such a claim."""
    differs: list[str] = Field(default_factory=list)
    """In what the runs differ from the conditions of the text."""
    note: str = ""
    command: str = ""
    """What would measure it, where nothing has; empty where nothing can."""


class AnomalyVerdict(StrEnum):
    """Of an anomaly that an analysis reports. None refutes it: that something was not seen does not show that it is not there."""

    REPRODUCED = "reproduced"
    """It was seen in a version that the analysis names."""
    STILL_SO = "still so"
    """It was seen in another version, or in another store of which the same is to be expected."""
    NOT_SEEN = "not seen"
    CANNOT_SAY = "cannot say"


class AnomalyTried(ResultPart):
    """One store of one run that was tried for it."""

    name: str
    """`store:variant`."""
    product: str
    """With its version."""
    run: str
    number: int
    """Of contended transactions, or of rounds with a fault."""
    seen: str
    """What was seen, and when first or how often; empty where nothing was."""


class ReportedAnomaly(ResultPart):
    """An anomaly that an analysis reports, with its verdict."""

    analysis: str
    title: str
    source: str
    year: int
    kind: str
    """`isolation`, `durability` or `other`."""
    anomaly: str
    level: str
    """The isolation level; empty for other kinds."""
    settings: str
    """Of durability: how the store was set; empty where the analysis's summary does not say."""
    nodes: str
    """`one` or `several`."""
    faults: list[str]
    expected: str
    """What it should have been instead."""
    verdict: AnomalyVerdict
    reason: str = ""
    """Why it cannot be said."""
    tried: list[AnomalyTried]
    """Those that show it; where none does, all that were tried."""
    note: str = ""
    """On the whole analysis."""
    command: str = ""
    """What would try it, where nothing has; empty where nothing can."""


class DeviceTested(ResultPart):
    """One row of a text's table of devices: how long a store waited for its I/O, in milliseconds."""

    source: str
    device: str
    arrangement: str
    overall: float
    save: float
    journal: float
    merge_read: float
    merge_write: float


class RunRead(ResultPart):
    """A result that was held against the claims."""

    id: str
    started: str
    scale: str
    edition: str
    stores: list[str]
    """As `store:variant`."""


class JudgedClaims(ResultPart):
    """All claims, in the order of their files."""

    format: str = FORMAT
    runs: list[RunRead]
    claims: list[JudgedClaim]
    anomalies: list[ReportedAnomaly] = Field(default_factory=list)
    """That analyses report; empty in pages of format 1.0."""
    devices: list[DeviceTested] = Field(default_factory=list)
    """That texts tested, in their order; empty in pages before format 1.2."""

    def count(self, verdict: ClaimVerdict | AnomalyVerdict) -> int:
        """How many claims or anomalies have a verdict."""
        judged = self.claims if isinstance(verdict, ClaimVerdict) else self.anomalies
        return sum(each.verdict is verdict for each in judged)

    @property
    def says_nothing(self) -> bool:
        """Whether neither of a claim nor of an anomaly anything can be said."""
        open_claims, open_anomalies = self.count(ClaimVerdict.CANNOT_SAY), self.count(AnomalyVerdict.CANNOT_SAY)
        return open_claims + open_anomalies == len(self.claims) + len(self.anomalies)

    @property
    def answer(self) -> str:
        """The one sentence."""
        counts = ", ".join(f"{self.count(each)} {each}" for each in ClaimVerdict)
        return f"Of {len(self.claims)} claims: {counts}."

    @property
    def answer_on_anomalies(self) -> str:
        """The same of the anomalies that analyses report."""
        counts = ", ".join(f"{self.count(each)} {each}" for each in AnomalyVerdict)
        return f"Of Jepsen's {len(self.anomalies)} anomalies: {counts}."
