"""Profiles: named sets of demands for one kind of use."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PositiveFloat, PositiveInt, Strict

from storeproof.spec.base import Frozen, Name, SpecFile
from storeproof.spec.guarantee import GuaranteeName


class Speed(Frozen):
    """Minimum median throughput of a workload, in operations per second."""

    workload: Name
    clients: PositiveInt
    at_least: Annotated[PositiveFloat, Strict(False)]


class Profile(SpecFile):
    """A set of demands. A store conforms if the run showed all of them."""

    profile: Name
    title: str
    models: Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]
    capabilities: Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]
    """Full names, `group.capability`."""
    guarantee: GuaranteeName
    speed: Annotated[tuple[Speed, ...], Strict(False)] = ()
