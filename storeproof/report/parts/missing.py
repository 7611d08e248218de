"""What is missing where a profile is not met: the nearest misses first, and what several variants of a store miss alike once. And what a
verdict does not say: by which alternative a store meets a demand, and what it has of the extended part."""

from __future__ import annotations

from typing import Final

from storeproof.report.parts.roles import ProfileAnswer, profiles_in, role_of
from storeproof.report.tables import Cell, Table
from storeproof.result.model import Result
from storeproof.support import Support

_Missing = tuple[tuple[str, tuple[str, ...]], ...]
"""Reasons, each with the things that are missing for it."""


def missing(result: Result) -> dict[str, Table]:
    """By profile, of those that a store does not meet: a row for each reason of each store."""
    tables = {}
    for profile in profiles_in(each for store in result.stores for each in store.profiles):
        found: dict[tuple[str, str, _Missing], tuple[ProfileAnswer, list[str]]] = {}
        for store in result.stores:
            for verdict in store.profiles:
                if verdict.profile == profile and verdict.verdict != "conforms":
                    role = role_of(verdict)
                    reasons = tuple((reason, tuple(things)) for reason, things in role.by_reason())
                    found.setdefault((store.store, role.text, reasons), (role, []))[1].append(store.configuration)
        rows = [
            [
                Cell(f"{store}: {', '.join(variants)}", "strong"),
                Cell(role.text, role.tone),
                Cell(", ".join(things)),
                Cell(reason),
            ]
            for (store, _, reasons), (role, variants) in sorted(found.items(), key=lambda item: _distance(item[1][0]))
            for reason, things in reasons
        ]
        if rows:
            tables[profile] = Table(("store: variants", "verdict", "what is missing", "why"), rows, "")
    return tables


def _distance(role: ProfileAnswer) -> tuple[bool, int]:
    """How far a store is from the profile; what was not shown says nothing, and comes last."""
    return role.verdict == "open", len(role.broken) + len(role.lacks) + len(role.open)


TITLE: Final = "In which way, and what beyond the core"
NOTE: Final = (
    "Some demands have alternatives, the strictest first: the first that was shown is named. "
    "Extended capabilities decide nothing: they are listed as supported or not."
)


def beyond(result: Result) -> Table:
    """A row for each profile of each store; variants that are alike share one."""
    found: dict[tuple[str, str, tuple[str, ...], tuple[tuple[str, Support], ...]], list[str]] = {}
    verdicts = {(store.store, store.configuration): {each.profile: each for each in store.profiles} for store in result.stores}
    for profile in profiles_in(each for store in result.stores for each in store.profiles):
        for (store, variant), of_store in verdicts.items():
            role = role_of(of_store[profile]) if profile in of_store else None
            if role and (role.ways or any(each is not Support.NOT_SHOWN for each in role.extended.values())):
                ways = tuple(each.words for each in role.ways)
                found.setdefault((role.label, store, ways, tuple(role.extended.items())), []).append(variant)
    rows = [
        [
            Cell(label, "strong"),
            Cell(f"{store}: {', '.join(variants)}"),
            Cell("; ".join(ways) or "–"),
            Cell(", ".join(name for name, each in extended if each is Support.SUPPORTED) or "–"),
            Cell("; ".join(f"{name}: {each.words}" for name, each in extended if each is not Support.SUPPORTED) or "–"),
        ]
        for (label, store, ways, extended), variants in found.items()
    ]
    return Table(("profile", "store: variants", "met by", "extended, supported", "extended, not"), rows, "")
