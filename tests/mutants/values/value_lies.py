"""Stores in memory that lie about one kind of value: wide and fine numbers, large records, what has expired.

Each does what the oracle says, but for one thing that real servers or careless ones do. They need no server and no time: the clock is
their own.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from storeproof.contract import Refused
from storeproof.oracle import REFUSAL
from storeproof.spec.query import Query
from tests.oracle.test_strategies import ModelStore

_YEAR_2038 = 2**31 - 1_800_000_000
"""Seconds until the 31 bits of Unix time end."""


class Timed(ModelStore):
    """Times to live by a clock of its own. What has expired is removed by the first request that looks at it."""

    blind: frozenset[str] = frozenset()
    """Operations that forget to look."""
    keeping: frozenset[str] = frozenset()
    """Operations that write a record and leave its old time to live."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self._ends: dict[Any, float] = {}

    def _do(self, operation: str, *args: Any) -> Any:
        self._look(operation, args)
        if operation in ("put", "put_many", "put_if_absent", "get_and_set") and operation not in self.keeping:
            for key in _keys(operation, args):
                self._ends.pop(key, None)
        answer = super()._do(operation, *args)
        if answer is REFUSAL:
            raise Refused("as the oracle says")
        return answer

    def _look(self, operation: str, args: tuple[Any, ...]) -> None:
        if operation not in self.blind:
            for key in list(self._ends) if operation in ("count", "scan") else _keys(operation, args):
                if self._ends.get(key, self.now + 1) <= self.now:
                    del self._ends[key]
                    super()._do("delete", key)

    def put_expiring(self, key: Any, record: Any, seconds: int) -> None:
        self._do("put", key, record)
        self._ends[key] = self.now + self.lasting(seconds)

    def lasting(self, seconds: int) -> float:
        return seconds

    def expire(self, key: Any, seconds: int) -> bool:
        self._look("expire", (key,))
        if key not in self.state:
            return False
        self._ends[key] = self.now + self.lasting(seconds)
        return True

    def expires_in(self, key: Any) -> float | None:
        self._look("expires_in", (key,))
        return self._ends[key] - self.now if key in self._ends else None

    def persist(self, key: Any) -> bool:
        self._look("persist", (key,))
        self._ends.pop(key, None)
        return key in self.state


def _keys(operation: str, args: tuple[Any, ...]) -> Iterable[Any]:
    return args[0] if operation in ("get_many", "put_many", "insert_many") else args[:1]


def blind(*operations: str) -> type[Timed]:
    """A store in which these operations find what has expired, if none that looks came before."""
    return type("Blind", (Timed,), {"blind": frozenset(operations)})


class KeepsTheTime(Timed):
    """A put of many records leaves the time to live, as some scripts do."""

    keeping = frozenset({"put_many"})


class GoneIn2038(Timed):
    """What should live until after 2038-01-19 is gone at once, as in Memcached 1.6.18."""

    def lasting(self, seconds: int) -> float:
        return seconds if seconds < _YEAR_2038 else 0


class BackwardsBlind(Timed):
    """A scan looks only forwards at what has expired."""

    def _look(self, operation: str, args: tuple[Any, ...]) -> None:
        if not (operation == "scan" and args[2]):
            super()._look(operation, args)


def asked(operation: str, change: Callable[..., tuple[Any, ...]]) -> type[Timed]:
    """A store that changes the arguments of an operation on the way."""

    class Mutant(Timed):
        def _do(self, done: str, *args: Any) -> Any:
            return super()._do(done, *(change(*args) if done == operation else args))

    return Mutant


def answered(operation: str, damage: Callable[[Any], Any]) -> type[Timed]:
    """A store that damages the answer of an operation."""

    class Mutant(Timed):
        def _do(self, done: str, *args: Any) -> Any:
            answer = super()._do(done, *args)
            return damage(answer) if done == operation else answer

    return Mutant


def _modulo(bits: int) -> Callable[[Any, Any], tuple[Any, ...]]:
    return lambda key, path: (key, tuple(part % 2**bits if isinstance(part, int) else part for part in path))


def _single(number: float) -> float:
    """In 24 bits."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


def _fifteen(value: Any) -> Any:
    """With 15 digits, as much software writes doubles."""
    return float(f"{value:.15g}") if isinstance(value, float) else value


def _fifteen_in_filter(query: Query) -> tuple[Query]:
    condition: Any = query.filter
    if not hasattr(condition, "value"):
        return (query,)
    return (query.model_copy(update={"filter": condition.model_copy(update={"value": _fifteen(condition.value)})}),)


def _signed(number: int) -> int:
    """The lower 32 bits, as a signed number."""
    return (number + 2**31) % 2**32 - 2**31


@dataclasses.dataclass(frozen=True)
class Lie:
    """A mutant, and the case that must catch it."""

    check: str
    liar: type[Timed]


LIES: Mapping[str, Lie] = {
    # as SQLite 3.40.1, MariaDB 10.11.19 and Tarantool 2.6.0
    "position-modulo-2-to-32": Lie("capabilities.documents.get-path/004", asked("get_path", _modulo(32))),
    "position-modulo-2-to-16": Lie("capabilities.documents.get-path/004", asked("get_path", _modulo(16))),
    # as Tarantool 2.6.0
    "limit-modulo-2-to-32": Lie(
        "capabilities.key_access.ordered-scan/004", asked("scan", lambda start, count, back: (start, count % 2**32, back))
    ),
    # as RediSearch 2.10.5
    "page-modulo-2-to-32": Lie(
        "capabilities.paging.limit/004",
        asked("find", lambda query: (query.model_copy(update={"limit": query.limit % 2**32 if query.skip else query.limit}),)),
    ),
    "skip-modulo-2-to-32": Lie(
        "capabilities.paging.offset/006", asked("find", lambda query: (query.model_copy(update={"skip": query.skip % 2**32}),))
    ),
    "range-end-in-31-bits": Lie(
        "capabilities.structures.list-range/003", asked("list_range", lambda key, start, stop: (key, start, max(0, _signed(stop))))
    ),
    "fifteen-digits": Lie("capabilities.filter.eq-number/007", asked("find", _fifteen_in_filter)),
    "scores-in-24-bits": Lie(
        "capabilities.structures.ranking-top/004", answered("top", lambda ranks: [(member, _single(score)) for member, score in ranks])
    ),
    "increments-in-31-bits": Lie("capabilities.counters.increment/007", asked("increment", lambda key, by: (key, _signed(by)))),
    "fields-in-31-bits": Lie(
        "capabilities.updates.increment-field/007", asked("increment_field", lambda key, field, by: (key, field, _signed(by)))
    ),
    # as Memcached 1.6.18
    "gone-in-2038": Lie("capabilities.expiry.put-expiring/004", GoneIn2038),
    "exists-though-expired": Lie("capabilities.expiry.put-expiring/001", blind("exists")),
    "compared-though-expired": Lie("capabilities.expiry.hidden/001", blind("compare_and_set")),
    "revived-by-a-time": Lie("capabilities.expiry.set/001", blind("expire")),
    "continued-though-expired": Lie("capabilities.expiry.of-counters/001", blind("increment")),
    "field-of-an-expired-hash": Lie("capabilities.expiry.of-hashes/001", blind("set_field")),
    "number-of-an-expired-hash": Lie("capabilities.expiry.of-field-counters/001", blind("increment_field")),
    "scanned-though-expired": Lie("capabilities.expiry.hidden-from-scan/002", BackwardsBlind),
    "time-kept-by-a-batch": Lie("capabilities.expiry.after-multi-put/001", KeepsTheTime),
    "list-beyond-128": Lie("thresholds.queue", answered("get", lambda items: items and items[:128] + items[:0:-1][: len(items[128:])])),
    "set-beyond-512": Lie("thresholds.members", answered("member_count", lambda count: min(count, 512))),
    "ranks-beyond-128": Lie("thresholds.ranking", answered("rank_of", lambda rank: rank and min(rank, 127))),
    "value-beyond-64-kib": Lie("thresholds.single_key", answered("get_many", lambda values: [each and each[:65536] for each in values])),
    "field-beyond-64-bytes": Lie("thresholds.hash10", answered("get_field", lambda value: value and value[:64])),
    "item-beyond-512": Lie("thresholds.nested", answered("item_count", lambda count: min(count, 512))),
}
"""By name."""
