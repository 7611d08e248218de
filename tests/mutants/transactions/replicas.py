"""A primary, and a replica at an address of its own that has what was committed there: the variant's option `lie` says in which order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import ClassVar

from storeproof.adapters.sqlite.link import Link
from storeproof.contract import Address, Collection, Key, Layout, Record
from tests.mutants.transactions.lying_transactions import Held, Open
from tests.mutants.transactions.weak_isolation import Honest

PRIMARY, REPLICA = "n1", "n2"
_LAG = 2


class Copied(Held):
    """A collection as the replica has it."""

    def now(self) -> dict[Key, Record]:
        """All records after the commits that the replica has applied."""
        assert isinstance(self._session, Lags)
        found: dict[Key, Record | None] = {}
        for each in self._session.applied([each for each in tuple(Honest.done) if each.writes]):
            found |= each.writes.get(self.name, {})
        return {key: record for key, record in found.items() if record is not None}


class Lags(Honest):
    """The last commits are missing: right, at a level that says nothing of time."""

    def collection(self, layout: Layout) -> Collection:
        return Copied(self, self._link, layout)

    def applied(self, done: Sequence[Open]) -> Sequence[Open]:
        """What it has, in its order."""
        return done[:-_LAG]


class Swaps(Lags):
    """Of two commits that wrote different records the later one is applied first."""

    def applied(self, done: Sequence[Open]) -> Sequence[Open]:
        apart = len(done) > 1 and not (done[-1].written | done[-1].read) & done[-2].written
        return [*done[:-2], done[-1]] if apart else done


class SwapsAny(Lags):
    """Also if the later one has read what the other wrote."""

    def applied(self, done: Sequence[Open]) -> Sequence[Open]:
        return [*done[:-2], *done[-1:]]


LIES: Mapping[str, type[Lags]] = {"lags": Lags, "swaps": Swaps, "swaps-any": SwapsAny}
"""By name; the first is none."""


@dataclass(frozen=True)
class TwoNodes:
    """What a load needs of a cluster, made of one server."""

    server: Address
    nodes: ClassVar[tuple[str, ...]] = (REPLICA, PRIMARY)
    cluster: TwoNodes = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "cluster", self)

    def primary(self) -> str:
        return PRIMARY

    @property
    def address(self) -> Address:
        return self.server

    def node(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(address=replace(self.server, database=name))


def connect(address: Address, options: Mapping[str, str]) -> Honest:
    return (LIES[options["lie"]] if address.database == REPLICA else Honest)(Link(address))
