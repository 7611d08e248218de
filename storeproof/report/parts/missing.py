"""What is missing where a profile is not met: the nearest misses first, and what several variants of a store miss alike once."""

from __future__ import annotations

from storeproof.report.parts.roles import ProfileAnswer, profiles_in, role_of
from storeproof.report.tables import Cell, Table
from storeproof.result.model import Result

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
                    found.setdefault((store.store, role.text, reasons), (role, []))[1].append(store.variant)
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
