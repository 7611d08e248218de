"""Scaling: the time of the same answers on more and more records, with and without indexes."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveInt, Strict, model_validator

from storeproof.spec import older_formats
from storeproof.spec.base import Frozen, Name, SpecFile
from storeproof.spec.query import check_request


class ScalingQuestion(Frozen):
    """A request with the same answer at every size."""

    capability: Name
    """The capability it belongs to; it is measured only if that was correct."""
    do: Literal["find", "count_where", "aggregate"]
    args: Annotated[tuple[Any, ...], Strict(False), Field(min_length=1)]
    answer: NonNegativeInt
    """Number of entries in the answer, or the count itself."""

    @model_validator(mode="after")
    def _request_can_be_read(self) -> Self:
        check_request(self.do, self.args)
        return self


class Scaling(SpecFile):
    """One file of `spec/scaling/`."""

    FORMAT = (2, 0)
    RENAMED = older_formats.SCALING

    scaling: Name
    title: str
    model: Name
    indexes: PositiveInt
    """Number of the model's indexes in the run with indexes."""
    questions: Annotated[tuple[ScalingQuestion, ...], Strict(False), Field(min_length=1)]
