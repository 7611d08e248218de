"""Redis' own lists, sets and sorted sets, and what it keeps of places in these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from storeproof.adapters.redis.collection import Keys, RedisCollection
from storeproof.adapters.redis.scripts import PUT_LIST, PUT_RANKING, PUT_SET
from storeproof.contract import Key, Record


class Queues(RedisCollection):
    """Lists. Redis removes one with its last item."""

    def get(self, key: Key) -> Record | None:
        items: list[bytes] = self._run("LRANGE", f"{self._prefix}{key}", 0, -1)
        return items or None

    def put(self, key: Key, record: Record) -> None:
        """DEL and RPUSH in one script."""
        assert isinstance(record, list)
        self._session.script(PUT_LIST, [f"{self._prefix}{key}"], record)

    def push_back(self, key: Key, item: bytes) -> int:
        return int(self._run("RPUSH", f"{self._prefix}{key}", item))

    def push_front(self, key: Key, item: bytes) -> int:
        return int(self._run("LPUSH", f"{self._prefix}{key}", item))

    def pop_front(self, key: Key) -> bytes | None:
        item: bytes | None = self._run("LPOP", f"{self._prefix}{key}")
        return item

    def pop_back(self, key: Key) -> bytes | None:
        item: bytes | None = self._run("RPOP", f"{self._prefix}{key}")
        return item

    def list_range(self, key: Key, start: int, stop: int) -> Sequence[bytes]:
        """LRANGE, whose -1 is the last item: a range that is empty is not asked for."""
        items: list[bytes] = self._run("LRANGE", f"{self._prefix}{key}", start, stop - 1) if start < stop else []
        return items

    def list_length(self, key: Key) -> int:
        return int(self._run("LLEN", f"{self._prefix}{key}"))


class Sets(RedisCollection):
    """Sets. Redis removes one with its last member."""

    def get(self, key: Key) -> Record | None:
        return {member.decode() for member in self._run("SMEMBERS", f"{self._prefix}{key}")} or None

    def put(self, key: Key, record: Record) -> None:
        """DEL and SADD in one script."""
        assert isinstance(record, set)
        self._session.script(PUT_SET, [f"{self._prefix}{key}"], record)

    def add_member(self, key: Key, member: str) -> bool:
        return bool(self._run("SADD", f"{self._prefix}{key}", member) == 1)

    def remove_member(self, key: Key, member: str) -> bool:
        return bool(self._run("SREM", f"{self._prefix}{key}", member) == 1)

    def has_member(self, key: Key, member: str) -> bool:
        return bool(self._run("SISMEMBER", f"{self._prefix}{key}", member) == 1)

    def member_count(self, key: Key) -> int:
        return int(self._run("SCARD", f"{self._prefix}{key}"))


class Rankings(RedisCollection):
    """Sorted sets, which Redis orders by score and then by the bytes of the member. It removes one with its last member."""

    def get(self, key: Key) -> Record | None:
        return dict(_scored(self._run("ZRANGE", f"{self._prefix}{key}", 0, -1, "WITHSCORES"))) or None

    def put(self, key: Key, record: Record) -> None:
        """DEL and ZADD in one script."""
        assert isinstance(record, dict)
        pairs = [item for member, score in record.items() for item in (score, member)]
        self._session.script(PUT_RANKING, [f"{self._prefix}{key}"], pairs)

    def set_score(self, key: Key, member: str, score: float) -> bool:
        """ZADD, which answers how many are new."""
        return bool(self._run("ZADD", f"{self._prefix}{key}", score, member) == 1)

    def add_score(self, key: Key, member: str, by: float) -> float:
        return float(self._run("ZINCRBY", f"{self._prefix}{key}", by, member))

    def remove_score(self, key: Key, member: str) -> bool:
        return bool(self._run("ZREM", f"{self._prefix}{key}", member) == 1)

    def score_of(self, key: Key, member: str) -> float | None:
        score = self._run("ZSCORE", f"{self._prefix}{key}", member)
        return None if score is None else float(score)

    def rank_of(self, key: Key, member: str) -> int | None:
        rank: int | None = self._run("ZREVRANK", f"{self._prefix}{key}", member)
        return rank

    def top(self, key: Key, count: int) -> Sequence[tuple[str, float]]:
        return _scored(self._run("ZREVRANGE", f"{self._prefix}{key}", 0, count - 1, "WITHSCORES")) if count > 0 else []

    def ranking_size(self, key: Key) -> int:
        return int(self._run("ZCARD", f"{self._prefix}{key}"))


class Places(Keys):
    """Sorted sets whose scores are geohashes of 52 bits. Redis has no places beyond 85.05112878 degrees of latitude."""

    unsupported_because: Mapping[str, str] = {
        **Keys.unsupported_because,
        "KeyValue": "a position is stored in 52 bits and read back up to half a metre away",
    }

    def add_place(self, key: Key, member: str, longitude: float, latitude: float) -> bool:
        """GEOADD, which answers how many are new."""
        return bool(self._run("GEOADD", f"{self._prefix}{key}", longitude, latitude, member) == 1)

    def remove_place(self, key: Key, member: str) -> bool:
        return bool(self._run("ZREM", f"{self._prefix}{key}", member) == 1)

    def place_count(self, key: Key) -> int:
        return int(self._run("ZCARD", f"{self._prefix}{key}"))

    def distance_between(self, key: Key, member: str, other: str) -> float | None:
        metres = self._run("GEODIST", f"{self._prefix}{key}", member, other, "m")
        return None if metres is None else float(metres)

    def nearest(self, key: Key, longitude: float, latitude: float, metres: float, count: int) -> Sequence[str]:
        circle = ("FROMLONLAT", longitude, latitude, "BYRADIUS", metres, "m")
        return [member.decode() for member in self._run("GEOSEARCH", f"{self._prefix}{key}", *circle, "ASC", "COUNT", count)]


def _scored(flat: Sequence[bytes]) -> list[tuple[str, float]]:
    """Pairs, out of member, score, member, score ..."""
    return [(member.decode(), float(score)) for member, score in zip(flat[::2], flat[1::2], strict=True)]
