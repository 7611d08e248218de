"""Records that cases find in place, so that a case says only what is asked of them."""

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
    """By key, written as the arguments of `put` are."""
