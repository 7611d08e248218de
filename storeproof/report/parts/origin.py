"""Whose server it was, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from storeproof.machine.program_origin import OriginKind
from storeproof.result.measured.origin import ProgramRecord, SupportRecord
from storeproof.result.model import StoreResult

_KINDS: Final[Mapping[OriginKind, str]] = {"deb": "deb package", "rpm": "RPM package", "wheel": "Python wheel", "image": "image"}
_MAKERS: Final[Mapping[bool | None, str]] = {
    True: "the maker's build",
    False: "not the maker's build",
    None: "whether the maker built it is not known",
}
NOT_RECORDED: Final = "not recorded"


def programs_told(store: StoreResult) -> list[str]:
    """A line for each program; one in all for an endpoint, and for a result that does not say."""
    if store.origin is None:
        return [NOT_RECORDED]
    return [_told(each) for each in store.origin.programs] or ["not known: the user ran the server"]


def support_told(found: SupportRecord, started: str) -> str:
    """`MongoDB 6.0: out of its maker's support since 2025-07-31`. `started`: when the run began, in ISO 8601."""
    ended = "out of its maker's support since" if found.ended(started) else "supported by its maker until"
    return f"{found.title} {found.release}: {ended} {found.ends}"


def origin_told(store: StoreResult, started: str) -> str:
    """All of it in one line."""
    support = store.origin.support if store.origin is not None else []
    return " · ".join([*programs_told(store), *(support_told(each, started) for each in support)])


def _told(found: ProgramRecord) -> str:
    where = ": ".join(each for each in (found.role, found.program) if each)
    return f"{where}: {_packaged(found)}" if where else _packaged(found)


def _packaged(found: ProgramRecord) -> str:
    if found.kind is None:
        return "where it is from is not known"
    if found.kind == "interpreter":
        return f"run by the Python of the suites, {found.package} {found.version}"
    named = " ".join(each for each in (_KINDS[found.kind], found.package, found.version) if each)
    more = (f", packaged by {found.packager}" if found.packager else "") + (f", source {found.source}" if found.source else "")
    return f"{named}{more}; {_MAKERS[found.makers]}"
