"""Profiles: named sets of demands for one kind of use. Capabilities are demanded in the same words as in a reader's needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, Strict, model_validator

from storeproof.spec.base import Frozen, Name, RuleError, SpecFile
from storeproof.spec.guarantee import GuaranteeName


class AnyOf(Frozen):
    """Capabilities of which one is enough, the strictest first: the first that is shown is told."""

    any_of: Annotated[tuple[Name, ...], Strict(False), Field(min_length=2)]
    """Full names, `group.capability`; in needs also groups, of which all capabilities are meant."""


OneWanted = Name | AnyOf
Wanted = Annotated[tuple[OneWanted, ...], Strict(False)]
"""Capabilities: each `group.capability`, or `{any_of: [...]}`."""


def alternatives_of(wanted: OneWanted) -> tuple[str, ...]:
    """The names of which one is enough; a single name is its own alternative."""
    return wanted.any_of if isinstance(wanted, AnyOf) else (wanted,)


def name_of(wanted: OneWanted) -> str:
    """As verdicts write it: `filter.prefix`, `expiry.put-expiring or expiry.swept`."""
    return " or ".join(alternatives_of(wanted))


class Profile(SpecFile):
    """A set of demands. A store conforms if the run showed all of them but the extended ones."""

    FORMAT = (1, 1)

    profile: Name
    title: str
    models: Annotated[tuple[Name, ...], Strict(False), Field(min_length=1)]
    capabilities: Annotated[Wanted, Field(min_length=1)]
    """The core, which every store of this kind must have: full names, `group.capability`, or `{any_of: [...]}`."""
    extended: Wanted = ()
    """What many stores of this kind have: tried, listed as supported or not, and never deciding. Written as `capabilities`."""
    guarantee: GuaranteeName

    def places(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Every capability that it names, with its place in the file."""
        for field, wanted in (("capabilities", self.capabilities), ("extended", self.extended)):
            for number, each in enumerate(wanted):
                if isinstance(each, AnyOf):
                    yield from (((field, number, "any_of", position), name) for position, name in enumerate(each.any_of))
                else:
                    yield (field, number), each

    @model_validator(mode="after")
    def _names_each_capability_in_one_part(self) -> Self:
        core = {name for place, name in self.places() if place[0] == "capabilities"}
        for place, name in self.places():
            if place[0] == "extended" and name in core:
                raise RuleError(f"found {name}, which is in `capabilities`; allowed: in one of both", *place)
        return self
