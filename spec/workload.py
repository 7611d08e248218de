"""Mixes of operations that are measured, once they were correct."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, PositiveInt, Strict

from storeproof.spec.base import Frozen, Name, SpecFile
from storeproof.spec.operation import OperationName


class Mix(Frozen):
    """One operation of a mix."""

    operation: OperationName
    weight: PositiveInt = 1
    batch: PositiveInt = 1
    """Records per request; above 1 the batch form of the operation is used."""
    keys: Literal["new", "uniform"]
    """`new`: each key was never written before. `uniform`: drawn evenly from the loaded records."""
    distinct: Annotated[float, Field(gt=0, le=1, strict=False)] = 1.0
    """With `keys: new`: the share of requests that write a new key; the others write one that is there."""
    path: Annotated[tuple[str | int, ...], Strict(False)] = ()
    """The path of a path operation, or the one field of a field operation."""


class Workload(Frozen):
    """A measured mix over one model."""

    workload: Name
    title: str
    model: Name
    mix: Annotated[tuple[Mix, ...], Strict(False), Field(min_length=1)]
    load: bool
    """Whether the collection is filled with the scale's records before the measurement."""
    clients: Literal["one", "few", "sweep"]
    """Which of the scale's client counts it runs at."""
    indexes: Annotated[tuple[Annotated[int, Field(ge=0)], ...], Strict(False), Field(min_length=1)] = (0,)
    """Numbers of secondary indexes it runs with; those a store does not have are skipped by name."""
    source: str = ""
    """Where the workload comes from."""


class WorkloadFile(SpecFile):
    """One file of `spec/workloads/`."""

    group: Name
    workloads: Annotated[tuple[Workload, ...], Strict(False), Field(min_length=1)]
