"""The base of all parts of a result."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from storeproof.stats.latency import check


@lru_cache(maxsize=1)  # the index of published results has the same empty one for each number
def _readable(histogram: str) -> str:
    """Validate a histogram when the file is read, since plots decode it."""
    try:
        check(histogram)
    except Exception:  # noqa: BLE001 - base64, zlib and the codec each have their own
        raise ValueError("is not an HdrHistogram V2 in base64") from None
    return histogram


Histogram = Annotated[str, AfterValidator(_readable)]
"""HdrHistogram V2 (base64)."""


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
