"""Published claims: what a text says about the speed or durability of stores, to hold results against.

They demand nothing of a store, so they are not part of the edition.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from statistics import median
from typing import Annotated, Final, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, Strict, StringConstraints, model_validator

from storeproof.spec.base import NUMBER_PATTERN, Frozen, Name, RuleError, SpecFile
from storeproof.spec.guarantee import GuaranteeName
from storeproof.spec.questions.devices import DeviceRow, Medium, WaitKind

Subject = Literal["durability", "topology", "workload", "indexes", "clients", "pipeline", "record", "disk"]
"""What the two sides of a claim may differ in because the claim is about it; all else must be alike, as in every comparison."""

MEASURED: Final[tuple[Subject, ...]] = ("workload", "indexes", "clients", "pipeline", "record", "disk")
"""The subjects that are fields of a side."""

TOLERANCE: Final = 1.25
"""A figure is reproduced by a ratio between its powers 1 / 1.25 and 1.25: by the same effect to within a quarter, on a logarithmic scale.

A/B and B/A are so the same statement, and no interval reaches 1: a cost of 17 % is not reproduced by no cost at all.
"""


class Conditions(Frozen):
    """Under which a text's figures were measured. What it does not say is left out."""

    machine: str | None = None
    cores: PositiveInt | None = None
    clients: PositiveInt | None = None
    records: PositiveInt | None = None
    """In the store before the measurement."""
    written: PositiveInt | None = None
    """Records that the measurement wrote."""
    payload_bytes: PositiveInt | None = None
    batch: PositiveInt | None = None
    """Records per request."""
    network: Literal["loopback", "remote"] | None = None


class ClaimedSide(Frozen):
    """A store, and what of it is set in a ratio."""

    store: Name
    variant: Name
    instead: Annotated[tuple[Annotated[str, StringConstraints(pattern="^[^:]+:[^:]+$")], ...], Strict(False)] = ()
    """Other stores, as `store:variant`, that the claim may be tried on where there is no number of this one; the nearest first."""
    version: str = ""
    """As the text names it."""
    settings: str = ""
    """What the text says about durability."""
    workload: Name | None = None
    """Missing where the claim is `for_each` of several."""
    indexes: NonNegativeInt = 0
    pipeline: PositiveInt = 1
    record: str = ""
    """The variation of the model's records, as in results: `fields-10`."""
    clients: PositiveInt | None = None
    """Exactly this number; without it, the number nearest to that of the conditions."""
    disk: Name | None = None
    """Of a claim on waits: the name of the disk in the run, as `--disk` gives it."""
    device: Name | None = None
    """Of such a claim: the row of the text's table."""
    medium: Medium | None = None
    """In place of a device: the median of all on this medium."""

    @property
    def stores(self) -> tuple[str, ...]:
        """`store:variant` of the text's store and of those instead of it."""
        return (f"{self.store}:{self.variant}", *self.instead)

    @property
    def targets(self) -> tuple[str, ...]:
        """The same as results name them: `store:variant@disk` where a disk is named."""
        return self.stores if self.disk is None else tuple(f"{each}@{self.disk}" for each in self.stores)


class Figure(Frozen):
    """What the text gives: both rates or waits, or their ratio."""

    a: Annotated[PositiveFloat, Strict(False)] | None = None
    b: Annotated[PositiveFloat, Strict(False)] | None = None
    """Operations per second; of a claim on waits, milliseconds."""
    ratio: Annotated[PositiveFloat, Strict(False)] | None = None
    """Of A to B."""

    @model_validator(mode="after")
    def _one_ratio(self) -> Self:
        rates = (self.a is not None) + (self.b is not None)
        if (rates, self.ratio is not None) not in ((2, False), (0, True)):
            raise RuleError("allowed: both `a` and `b`, or `ratio` alone")
        return self

    @property
    def value(self) -> float:
        """Of A to B."""
        return self.ratio if self.ratio is not None else (self.a or 1) / (self.b or 1)


class Bounds(Frozen):
    """Between which the ratio of A to B reproduces the claim."""

    above: Annotated[PositiveFloat, Strict(False)] | None = None
    below: Annotated[PositiveFloat, Strict(False)] | None = None

    @model_validator(mode="after")
    def _leave_room(self) -> Self:
        if self.above is None and self.below is None:
            raise RuleError("allowed: `above`, `below`, or both")
        if self.above is not None and self.below is not None and self.above >= self.below:
            raise RuleError(f"found above {self.above:g} and below {self.below:g}; allowed: `above` less than `below`")
        return self


class Kept(Frozen):
    """A store that is said to keep what it acknowledged."""

    store: Name
    variant: Name
    guarantee: GuaranteeName
    version: str = ""
    settings: str = ""

    @property
    def target(self) -> str:
        return f"{self.store}:{self.variant}"


class PublishedClaim(Frozen):
    """One claim: a ratio of two rates or waits, or what a store keeps; or one that no workload measures."""

    claim: Name
    title: str
    basis: Literal["measured", "estimated", "stated"] = "measured"
    """Whether the text measured it, calculated or expected it, or only says so (since format 1.1)."""
    about: Annotated[tuple[Subject, ...], Strict(False)] = ()
    """What the sides differ in, besides the store."""
    a: ClaimedSide | None = None
    b: ClaimedSide | None = None
    for_each: Annotated[tuple[Name, ...], Strict(False)] = ()
    """Workloads of both sides, for each of which it is said to be true: one that refutes it is enough."""
    wait: WaitKind | None = None
    """Of which I/O the sides are mean waits, on two disks, and not rates. The text's figure is then that of its table of devices."""
    figure: Figure | None = None
    reproduced: Bounds | None = None
    """Without it, the figure to within a quarter of its effect (`TOLERANCE`)."""
    keeps: Kept | None = None
    no_workload: str = ""
    """Why no workload of this edition measures it."""
    withdrawn: str = ""
    """Why what its workloads measure does not decide it; then it has no verdict, and no ratio is shown."""
    conditions: Conditions = Conditions()
    """Where they are others than those of the file."""
    not_repeated: Annotated[tuple[str, ...], Strict(False)] = ()
    """What of the text's test no workload repeats."""
    note: str = ""

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        ratio = self.a is not None and self.b is not None
        if [ratio, self.keeps is not None, bool(self.no_workload)].count(True) != 1 or (self.a is None) != (self.b is None):
            raise RuleError("allowed: `a` and `b`, or `keeps`, or `no_workload`")
        if self.a is not None and self.b is not None:
            self._check_sides(self.a, self.b)
            if self.figure is None and self.reproduced is None and self.wait is None:
                raise RuleError("says of no ratio that it reproduces the claim; add `figure` or `reproduced`")
        elif self.for_each or self.reproduced or self.about or self.withdrawn or self.wait:
            raise RuleError("`for_each`, `reproduced`, `about`, `withdrawn` and `wait` are for claims with `a` and `b`")
        if self.figure is not None and self.reproduced is None and self.figure.value == 1:
            raise RuleError("a ratio of 1 has no effect to compare; add `reproduced`", "figure")
        return self

    def _check_sides(self, a: ClaimedSide, b: ClaimedSide) -> None:
        for letter, side in (("a", a), ("b", b)):
            if (side.workload is None) != bool(self.for_each):
                raise RuleError("needs one `workload`, or the claim `for_each` of several", letter)
            self._check_disk(letter, side)
        for subject in MEASURED:
            if (getattr(a, subject) != getattr(b, subject)) != (subject in self.about):
                raise RuleError(
                    f"found {subject} {getattr(a, subject)} and {getattr(b, subject)}; allowed: different ones if, and only if, "
                    f"`about` has `{subject}`",
                    "about",
                )

        if self.wait is not None and a.stores != b.stores:
            raise RuleError("found two stores; allowed: one store on both disks, since what one sync covers differs between stores", "b")
        if self.wait is not None and self.figure is not None:
            raise RuleError("leave it out: the figure of a `wait` is that of the text's table of devices", "figure")

    def _check_disk(self, letter: str, side: ClaimedSide) -> None:
        """A side of a wait has a disk and what it stands for, and no other side has."""
        given = (side.disk is not None, (side.device is not None) + (side.medium is not None))
        if self.wait is not None and given != (True, 1):
            raise RuleError("a side of a `wait` needs `disk`, and either `device` or `medium`", letter)
        if self.wait is None and given != (False, 0):
            raise RuleError("`disk`, `device` and `medium` are for claims with `wait`", letter)

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which the ratio reproduces the claim; 0 and infinity where there is none."""
        if self.reproduced is not None:
            return self.reproduced.above or 0.0, self.reproduced.below or inf
        if self.figure is None:
            return 0.0, inf
        low, high = sorted((self.figure.value ** (1 / TOLERANCE), self.figure.value**TOLERANCE))
        return low, high

    @property
    def workloads(self) -> tuple[tuple[Name, Name], ...]:
        """The workloads of A and B, pair by pair."""
        if self.a is None or self.b is None:
            return ()
        return tuple((name, name) for name in self.for_each) or ((self.a.workload or "", self.b.workload or ""),)


class ClaimsFile(SpecFile):
    """One file of `spec/claims/`: the claims of one text."""

    FORMAT = (1, 1)

    source: Annotated[str, StringConstraints(pattern=NUMBER_PATTERN)]
    """Its number, as in `source` of the workloads."""
    title: str
    year: PositiveInt | None = None
    """Of the measurements, or of the text."""
    conditions: Conditions = Conditions()
    """Of all claims that do not say otherwise."""
    devices: dict[Name, DeviceRow] = Field(default_factory=dict)
    """The text's table of devices, in its order (since format 1.1)."""
    claims: Annotated[tuple[PublishedClaim, ...], Strict(False), Field(min_length=1)]

    def conditions_of(self, claim: PublishedClaim) -> Conditions:
        """The conditions of the file, with the claim's own in their place."""
        own: Mapping[str, object] = {name: getattr(claim.conditions, name) for name in claim.conditions.model_fields_set}
        return self.conditions.model_copy(update=dict(own))

    def with_figure(self, claim: PublishedClaim) -> PublishedClaim:
        """The claim; one on waits with the figure that the table of devices gives."""
        if claim.wait is None or claim.a is None or claim.b is None:
            return claim
        return claim.model_copy(update={"figure": Figure(a=self.wait_of(claim.a, claim.wait), b=self.wait_of(claim.b, claim.wait))})

    def wait_of(self, side: ClaimedSide, kind: WaitKind) -> float:
        """In milliseconds, of the side's device, or the median of those on its medium."""
        waits: list[float] = [
            getattr(each, kind) for name, each in self.devices.items() if side.device == name or side.medium == each.medium
        ]
        return median(waits)
