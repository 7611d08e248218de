"""Acknowledged commits that a fault took away: what is read after it is older than what had replaced that before it.

A level says nothing of them, unless it keeps real time: a history that ends early is a history. But a store that lost the first of two
commits and kept the second shows an anomaly as well, as that one may have read the first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from storeproof.history import Transaction


class LostCommit(NamedTuple):
    """A commit of which a later transaction saw nothing; both are indexes into the history."""

    commit: int
    reader: int
    key: str
    version: str
    """That the commit installed."""
    read: str | None
    """The older one that was read; None: no record."""

    def __str__(self) -> str:
        found = "no record" if self.read is None else f"version {self.read}"
        return f"{self.key}: version {self.version} was committed, and afterwards {found} was read, which that replaced"


def lost_commits(transactions: Sequence[Transaction], moment: int) -> list[LostCommit]:
    """One for each commit that was acknowledged by a moment, and of which a transaction that began after it read what had been replaced.

    `moment`: on the clock of the transactions, after the fault; from then on each transaction is to see all acknowledged commits.
    """
    replaced: dict[tuple[str, str], str | None] = {}
    """By version, the one that its transaction had read, or appended to."""
    kept: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    """By key, what was installed by acknowledged commits."""
    for index, each in enumerate(transactions):
        seen: dict[str, str | None] = {}
        written: dict[str, str] = {}
        for access in each.accesses:
            if access.action == "read":
                seen[access.key] = access.version
                continue
            assert access.version is not None
            if access.after is not None or access.key in seen:
                replaced[access.key, access.version] = access.after or seen[access.key]
            seen[access.key] = written[access.key] = access.version
        if each.outcome == "ok" and each.completed is not None and each.completed <= moment:
            for key, version in written.items():
                kept[key].append((version, index))
    found: dict[int, LostCommit] = {}
    for reader, each in enumerate(transactions):
        if each.outcome != "ok" or each.invoked < moment:
            continue
        first = {access.key: access.version for access in reversed(each.accesses) if access.action == "read"}
        for key, read in first.items():
            for version, index in kept[key]:
                if index not in found and version != read and _comes_from(key, version, read, replaced):
                    found[index] = LostCommit(index, reader, key, version, read)
    return list(found.values())


def _comes_from(key: str, version: str, read: str | None, replaced: dict[tuple[str, str], str | None]) -> bool:
    """Whether a version replaced one that was read, or replaced what replaced it, and so on."""
    at: str | None = version
    while at is not None and (key, at) in replaced:
        at = replaced[key, at]
        if at == read:
            return True
    return False
