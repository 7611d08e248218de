"""Framers: where one reply ends, how much it counts, and whether it is an error. One file a protocol, in pure Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from storeproof.load.wire.framing.embedded import Embedded
from storeproof.load.wire.framing.frame import LINE, MOST, Framer, Malformed, Reply, shown
from storeproof.load.wire.framing.http import Http
from storeproof.load.wire.framing.iproto import Iproto
from storeproof.load.wire.framing.memcached import Memcached
from storeproof.load.wire.framing.mongo import Mongo
from storeproof.load.wire.framing.mysql import Mysql
from storeproof.load.wire.framing.postgres import Postgres
from storeproof.load.wire.framing.resp import Resp
from storeproof.load.wire.request import WireProtocol

FRAMERS: Final[Mapping[WireProtocol, type[Framer]]] = {
    "resp": Resp,
    "memcached": Memcached,
    "mongo": Mongo,
    "iproto": Iproto,
    "mysql": Mysql,
    "postgres": Postgres,
    "http": Http,
    "embedded": Embedded,
}


def replies(protocol: WireProtocol, data: bytes, chunk: int) -> tuple[list[tuple[int, str | None, int]], str | None]:
    """What a connection makes of these bytes where they come `chunk` at a time: counts, errors, lengths; and what was malformed.

    As `storeproof.native.replies`: each is held against the other.
    """
    framer = FRAMERS[protocol]()
    step = max(chunk, 1)
    found = [reply for at in range(0, len(data), step) for reply in framer.feed(data[at : at + step])]
    return [(reply.count, reply.error, reply.length) for reply in found], framer.problem


__all__ = ["FRAMERS", "LINE", "MOST", "Framer", "Malformed", "Reply", "replies", "shown"]
