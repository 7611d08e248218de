"""Redis Stack: a Redis whose server has the modules RedisJSON and RediSearch, through redis-py.

What a plain Redis has is kept as there. Documents are RedisJSON's, and are found by RediSearch.
"""

from __future__ import annotations

from collections.abc import Mapping

from storeproof.adapters.redis import RedisSession, client
from storeproof.adapters.redis.collection import Named
from storeproof.adapters.redis_stack.documents import Documents
from storeproof.contract import Address, Layout, Refused, Unknown, Unsupported, Version
from storeproof.spec import model as shapes


class StackSession(RedisSession):
    def version(self) -> Version:
        """The server's, with those of the two modules; a server that lacks one of them calls itself by its own name."""
        plain = super().version()
        loaded = {each[b"name"].decode(): int(each[b"ver"]) for each in self.run("MODULE LIST")}
        if not {"search", "ReJSON"} <= loaded.keys():
            return plain
        return Version("Redis Stack", f"{plain.number}, search {_number(loaded['search'])}, ReJSON {_number(loaded['ReJSON'])}")

    def collection(self, layout: Layout) -> Named:
        if not isinstance(layout.model.record, shapes.Document):
            if layout.indexes:
                raise Unsupported("the adapter uses RediSearch indexes for documents only")
            return super().collection(layout)
        if layout.model.decimals:
            raise Unsupported("RedisJSON has 64-bit integers and doubles, but no exact decimals")
        return Documents(self, layout)


def connect(address: Address, options: Mapping[str, str]) -> StackSession:
    session = StackSession(client(address, options))
    try:
        session.run("PING")
    except (Refused, Unknown):
        session.close()
        raise
    return session


def _number(packed: int) -> str:
    """Modules write 2.10.5 as 21005."""
    return f"{packed // 10000}.{packed // 100 % 100}.{packed % 100}"
