"""Records that a capability's cases find in the collection."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from storeproof.spec.base import Name, SpecFile


class Dataset(SpecFile):
    """One file of `spec/datasets/`."""

    dataset: Name
    title: str
    model: Name
    records: Annotated[dict[str | int, Any], Field(min_length=1)]
    """By key; each record is written like an argument of `put`."""
