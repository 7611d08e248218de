"""What a store misses of a profile, and by which alternatives it meets the rest, as the judge found it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from storeproof.outcome import REFUTED, SHOWN, Outcome
from storeproof.result.part import ResultPart
from storeproof.support import way_in_words

MEANS: Final[Mapping[Outcome, Literal["broken", "lacks", "open"]]] = {
    outcome: "broken" if outcome in (Outcome.FAIL, Outcome.KNOWN_FAIL) else "lacks" if outcome in REFUTED else "open"
    for outcome in Outcome
    if outcome not in SHOWN
}
"""What an outcome says of a demand: it was answered wrongly, or claimed and not kept; the store does not have it; nothing was shown."""


Kind = Literal["model", "capability", "guarantee", "case"]
"""`case`: a case of the suites that belongs to no capability."""


class MissingDemand(ResultPart):
    """One demand, or one case of it, that was not shown."""

    kind: Kind
    name: str
    """Of the model, the capability, the demanded guarantee or the case; alternatives as `A or B`."""
    case: str = ""
    """Of a capability its case, `001`, and of alternatives with the capability, `A/001`; of a model the operation; of a guarantee the
    weaker one that it includes; of a case the guarantee whose fault struck. Empty where the whole is missing."""
    outcome: Outcome
    """`unsupported` also of what the variant does not claim, `not_run` also of what left no outcome in this run."""
    reason: str = ""
    """The first line of a detail."""
    sentence: str = Field(default="", exclude=True, repr=False)
    """Of results of formats before 2.5 the line that they have instead, which is written again."""

    @property
    def thing(self) -> str:
        """A capability's name, `model NAME`, `guarantee NAME`, or a case's name."""
        return f"{self.kind} {self.name}" if self.kind in ("model", "guarantee") else self.name

    @property
    def broken(self) -> bool:
        """Whether it was answered wrongly, or claimed and not kept."""
        return MEANS[self.outcome] == "broken"

    @property
    def open(self) -> bool:
        """Whether the run says nothing of it, for or against."""
        return MEANS[self.outcome] == "open"

    @property
    def why(self) -> str:
        """The reason, with what it is of where the thing does not say it: an alternative, an operation, a weaker guarantee."""
        return ": ".join(filter(None, ("" if self._is_one_case else self.case, self.reason)))

    def __str__(self) -> str:
        of, case = (f"/{self.case}", "") if self._is_one_case else ("", self.case)
        kind = "capability " if self.kind == "capability" else ""
        return ": ".join(filter(None, (f"{kind}{self.thing}{of}", case, self.outcome, self.reason)))

    @property
    def _is_one_case(self) -> bool:
        return self.kind == "case" or (self.kind == "capability" and "/" not in self.case)

    @model_serializer(mode="wrap")
    def _as_it_was_read(self, write: SerializerFunctionWrapHandler) -> Any:
        return self.sentence or write(self)


class Way(ResultPart):
    """By which of several alternatives a store meets a demand."""

    demand: str
    """All alternatives: `expiry.put-expiring or expiry.swept`."""
    capability: str
    """The first of them that was shown."""
    title: str
    """Of that capability."""

    @property
    def words(self) -> str:
        return way_in_words(self.capability, self.title)

    @property
    def is_strictest(self) -> bool:
        """Whether no alternative asks for more."""
        return self.demand.partition(" or ")[0] == self.capability
