"""Histories of transactions: a notation for those written by hand, and stores that keep or break an isolation level."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from storeproof.history import Access, Transaction

_LINE = re.compile(r" *(?P<bar>\|-+(\||no|\?)) *((?P<client>[A-Z]): )?(?P<accesses>.*)")
_ACCESS = re.compile(r"(?P<key>[a-z])(?P<how>[?=~])(?P<version>\w+|-)(<(?P<after>\w+))?")


def transactions(*lines: str) -> list[Transaction]:
    """One transaction a line, each by a client of its own unless a capital letter names it: the bar says when.

    x?- x=1        |---|        read x, found no record, wrote 1, committed
    A: x=1 y=2 x=3    |--?      writes; the reply to the commit was lost
    A: x~1 y~-    |-no          read by a condition that x fulfilled and y could have; rolled back
    """
    found = []
    for number, line in enumerate(lines):
        match = _LINE.fullmatch(line.rstrip())
        assert match is not None, f"not a transaction: {line!r}"
        accesses = []
        for token in match["accesses"].split():
            access = _ACCESS.fullmatch(token)
            assert access is not None, f"not an access: {token!r}"
            version = None if access["version"] == "-" else access["version"]
            accesses.append(
                Access("write" if access["how"] == "=" else "read", access["key"], version, access["how"] == "~", access["after"])
            )
        outcome: Any = {"|": "ok", "o": "refused", "?": "unknown"}[match["bar"][-1]]
        found.append(
            Transaction(
                client=number if match["client"] is None else ord(match["client"]),
                invoked=match.start("bar"),
                completed=None if outcome == "unknown" else match.start("bar") + match["bar"].rindex("-") + 1,
                outcome=outcome,
                accesses=tuple(accesses),
            )
        )
    return found


Behaviour = Literal[
    "serializable", "snapshot", "read committed", "lagging replica",
    "no transactions", "write skew of three", "lost updates", "leaking rollbacks", "forgets own writes", "long fork",
]  # fmt: skip
"""The first four keep what they are called; a lagging replica serves old snapshots to some clients."""


@dataclass
class _Open:
    """A transaction in progress."""

    client: int
    invoked: int
    snapshot: int
    plan: list[tuple[str, list[str]]]
    rolls_back: bool
    hidden: int | None = None
    accesses: list[Access] = field(default_factory=list)
    read: set[str] = field(default_factory=set)
    written: dict[str, str] = field(default_factory=dict)


class SimulatedStore:
    """A store of versions whose clients take turns, step by step, as a seed says."""

    def __init__(self, behaviour: Behaviour, seed: int, *, clients: int = 8, keys: int = 5) -> None:
        self._behaviour = behaviour
        self._chance = random.Random(seed)
        self._clients = clients
        self._keys = [f"k{number}" for number in range(keys)]
        self._made = keys
        self._versions: dict[str, list[tuple[int, str]]] = {}
        self._commits: list[tuple[set[str], set[str]]] = []
        """What each commit wrote and read."""
        self._now = 0
        self._written = 0

    def run(self, count: int) -> list[Transaction]:
        """At least that many transactions, in the order of completion."""
        working: dict[int, _Open] = {}
        found: list[Transaction] = []
        while len(found) < count or working:
            self._now += 1
            client = self._chance.randrange(self._clients)
            each = working.get(client)
            if each is None and len(found) < count:
                working[client] = self._begin(client)
            elif each is None:
                continue
            elif each.plan:
                self._step(each, *each.plan.pop(0))
            else:
                found.append(self._end(working.pop(client)))
        return found

    def _begin(self, client: int) -> _Open:
        chance = self._chance
        plan = []
        for _ in range(chance.randint(1, 4)):
            place = min(int(chance.expovariate(3 / len(self._keys))), len(self._keys) - 1)
            how = chance.choices(["read", "update", "blind", "predicate"], [45, 45, 5, 5])[0]
            plan.append((how, self._keys[place : place + 3] if how == "predicate" else [self._keys[place]]))
            if chance.random() < 0.02:
                self._keys[place], self._made = f"k{self._made}", self._made + 1
        found = _Open(client, self._now, len(self._commits), plan, chance.random() < 0.05)
        if self._behaviour in ("lagging replica", "long fork") and client < 3:
            found.plan = [("read", keys) for _, keys in plan]
            if self._behaviour == "lagging replica":
                found.snapshot = max(0, found.snapshot - 2)
            elif len(self._commits) > 1 and not set.union(*self._commits[-1]) & self._commits[-2][0]:
                found.hidden = len(self._commits) - 1  # it has the last commit, and not the one before, on which that does not depend
        return found

    def _step(self, each: _Open, how: str, keys: list[str]) -> None:
        for key in keys:
            if how != "blind":
                each.read.add(key)
                each.accesses.append(Access("read", key, self._visible(each, key), how == "predicate"))
            if how in ("update", "blind"):
                self._written += 1
                version = f"v{self._written}"
                each.accesses.append(Access("write", key, version))
                each.written[key] = version
                if self._behaviour == "no transactions":
                    self._install({key: version}, set())

    def _visible(self, each: _Open, key: str) -> str | None:
        forgets = self._behaviour == "forgets own writes" and self._chance.random() < 0.02
        if key in each.written and not forgets and self._behaviour != "no transactions":
            return each.written[key]
        latest = self._behaviour in ("read committed", "no transactions")
        upto = len(self._commits) if latest else each.snapshot
        return next((version for at, version in reversed(self._versions.get(key, [])) if at <= upto and at != each.hidden), None)

    def _end(self, each: _Open) -> Transaction:
        refused = each.rolls_back or self._conflicts(each)
        leaks = self._behaviour == "leaking rollbacks" and not self._outdated(each.written, each) and self._chance.random() < 0.1
        if self._behaviour != "no transactions" and (leaks or not refused):
            self._install(each.written, each.read)
        lost = not each.rolls_back and self._chance.random() < 0.02
        outcome: Any = "unknown" if lost else "refused" if refused else "ok"
        return Transaction(each.client, each.invoked, None if lost else self._now, outcome, tuple(each.accesses))

    def _install(self, written: dict[str, str], read: set[str]) -> None:
        if written:
            self._commits.append((set(written), read))
            for key, version in written.items():
                self._versions.setdefault(key, []).append((len(self._commits), version))

    def _outdated(self, keys: Any, each: _Open) -> bool:
        """Whether one of these was written since the snapshot."""
        return any(self._versions.get(key, [(0, "")])[-1][0] > each.snapshot for key in keys)

    def _conflicts(self, each: _Open) -> bool:
        if not each.written and self._behaviour in ("lagging replica", "long fork"):
            return False
        if self._behaviour in ("no transactions", "read committed", "lost updates"):
            return False
        if self._behaviour == "snapshot":
            return self._outdated(each.written, each)
        if self._behaviour == "write skew of three":  # it looks for pairs only
            pairs = any(wrote & each.read and read & each.written.keys() for wrote, read in self._commits[each.snapshot :])
            return self._outdated(each.written, each) or pairs
        return self._outdated(each.read | each.written.keys(), each)
