"""Whose server a store ran: where its programs came from, whether its maker published them, and until when it supports the release."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Annotated, Final

from pydantic import Field, StringConstraints

from storeproof.machine.program_origin import OriginKind, ProgramOrigin
from storeproof.result.part import ResultPart
from storeproof.spec.base import LINK_PATTERN
from storeproof.spec.store import ROLES, Store, Target

_OVER: Final = " over "
"""Between the versions of a front and a home."""


class ProgramRecord(ResultPart):
    """One program of a server, or the image that it is in."""

    role: str = ""
    """Of a composite store, `front` or `home`."""
    program: str = ""
    """Its name, without directory; empty for an image, and for a program in Python."""
    kind: OriginKind | None
    """What it was packaged as; None: not known."""
    package: str = ""
    version: str = ""
    packager: str = ""
    """As the package or the label of the image says."""
    source: str = ""
    """The address of its source, as the label of the image says."""
    makers: bool | None = None
    """Whether the store's file names the package among those of the maker; None: it says nothing of this kind, or the kind is not known."""


class SupportRecord(ResultPart):
    """Until when the maker supports the release that ran, by the store's file."""

    title: str
    """Of the store."""
    release: str
    ends: date
    """The last day."""
    source: Annotated[str, StringConstraints(pattern=LINK_PATTERN)]
    """Where that is said."""

    def ended(self, started: str) -> bool:
        """Whether it was no longer supported when a run began. `started`: in ISO 8601."""
        return self.ends.isoformat() < started[:10]


class OriginRecord(ResultPart):
    """Of a store, all its programs."""

    programs: list[ProgramRecord] = Field(default_factory=list)
    """Empty for an endpoint."""
    support: list[SupportRecord] = Field(default_factory=list)
    """Of each of its servers of which an end is known."""


def origin_of(target: Target, version: str, origins: Iterable[ProgramOrigin]) -> OriginRecord:
    """What a result says of a target's programs.

    Args:
        target: whose file, or whose servers' files, name the maker's packages.
        version: as in the result.
        origins: of the programs that ran.
    """
    return OriginRecord(programs=[_judged(target, each) for each in origins], support=list(_support(target, version)))


def judged_again(target: Target, version: str, said: OriginRecord) -> OriginRecord:
    """What it says of its programs is taken, and what follows from that is computed. Arguments as of `origin_of`."""
    programs = [each.model_copy(update={"makers": _is_makers(target, each)}) for each in said.programs]
    return OriginRecord(programs=programs, support=list(_support(target, version)))


def _judged(target: Target, found: ProgramOrigin) -> ProgramRecord:
    return ProgramRecord(
        role=found.role,
        program=found.program,
        kind=found.kind,
        package=found.package,
        version=found.version,
        packager=found.packager,
        source=found.source,
        makers=_is_makers(target, found),
    )


def _is_makers(target: Target, found: ProgramOrigin | ProgramRecord) -> bool | None:
    store = next((part.store for role, part in target.parts.items() if role == found.role), target.store)
    if found.kind is None or found.kind == "interpreter" or found.kind not in store.makers_packages:
        return None
    return any(each.matches(found.package, found.version) for each in store.makers_packages[found.kind])


def _support(target: Target, version: str) -> Iterable[SupportRecord]:
    stores: Sequence[Store] = [target.parts[role].store for role in ROLES if role in target.parts] or [target.store]
    numbers = version.removeprefix(f"{target.store.product} ").split(_OVER)
    for store, number in zip(stores, numbers, strict=False):
        if store.support is not None and (release := store.support.release_of(number)) is not None:
            yield SupportRecord(title=store.title, release=release, ends=store.support.ends[release], source=store.support.source)
