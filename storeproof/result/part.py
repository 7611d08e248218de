"""The base of all parts of a result."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class ResultPart(BaseModel):
    """A part of a result: frozen, and strict about its fields when it is read back.

    Numbers are finite: JSON has no NaN, so a file with one could not be read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


class Gate(ResultPart):
    """A condition for the validity of a number: `value` must not exceed `limit`."""

    ok: bool
    value: float
    limit: float
