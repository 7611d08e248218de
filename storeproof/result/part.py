"""What every part of a result is."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A part of a result: frozen, and strict about its fields when it is read back.

    Numbers are finite: JSON has no NaN, and a file with one could be written but never read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True)


class Gate(Part):
    """A condition on a number's validity."""

    ok: bool
    value: float
    limit: float
