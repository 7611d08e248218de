"""An index as it is asked for while the collection is in use."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, Strict

from storeproof.spec.base import Name
from storeproof.spec.query import FieldPath, Where


class Index(Where):
    """Paths, in their order; with a filter, only of the records that it means."""

    name: Name
    paths: Annotated[tuple[FieldPath, ...], Strict(False), Field(min_length=1)]
    unique: bool = False
    """No two of the records have equal values at all of the paths."""
    each: bool = False
    """The path leads to a list, and every item of it is indexed."""
