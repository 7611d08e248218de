"""How the time of an answer grows with the data: the same questions on ever more records, with indexes and without."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, Strict, model_validator

from storeproof.spec.base import Frozen, Name, SpecFile
from storeproof.spec.query import check_request


class ScalingQuestion(Frozen):
    """A request whose answer is the same at every size."""

    capability: Name
    """What it is an instance of: it is asked only where that was right."""
    do: Literal["find", "count_where", "aggregate"]
    args: Annotated[tuple[Any, ...], Strict(False), Field(min_length=1)]
    answer: NonNegativeInt
    """Entries of the answer, or the count itself."""

    @model_validator(mode="after")
    def _request_can_be_read(self) -> Self:
        check_request(self.do, self.args)
        return self


class Scaling(SpecFile):
    """One file of `spec/scaling/`."""

    FORMAT = (2, 0)
    RENAMED = MappingProxyType({"growth": "scaling"})

    scaling: Name
    title: str
    model: Name
    indexes: PositiveInt
    """How many of the model's indexes the indexed run has."""
    questions: Annotated[tuple[ScalingQuestion, ...], Strict(False), Field(min_length=1)]
