"""An index created while the collection is in use."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, Strict

from storeproof.spec.base import Name
from storeproof.spec.query import FieldPath, Where


class Index(Where):
    """An index on paths, in order; with a filter, a partial index of the records that match."""

    name: Name
    paths: Annotated[tuple[FieldPath, ...], Strict(False), Field(min_length=1)]
    unique: bool = False
    """No two records have equal values at all paths."""
    each: bool = False
    """The path is a list, and each of its items is indexed."""
