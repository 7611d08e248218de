"""A failure that is known: it stays in sight, with its reason, and does not end the run with an error until a day that is named."""

from __future__ import annotations

import datetime
from typing import Annotated

from pydantic import Field, Strict

from storeproof.spec.base import Frozen, Name


class KnownFailure(Frozen):
    """Why a case fails, and how long that may stand."""

    variants: Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]
    """Those of the store that fail."""
    issue: Annotated[str, Field(min_length=1)]
    """What is wrong and in which version, with the address of its issue where it has one."""
    until: Annotated[datetime.date, Strict(False)]
    """The last day; from the next on it is a failure like any other."""
    sometimes: bool = False
    """Whether it fails in some runs only, as races do: a run in which it does not fail is then a pass, which shows nothing."""
