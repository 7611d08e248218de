"""The replies of each protocol, read a second time: where one ends, how much it counts, whether it is an error. One file a protocol.

Written after the documentation of the protocols and apart from `native/src/load/frame`, which tests hold against this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from storeproof.load.wire.request import WireProtocol
from tests.load.wire.framing.embedded import Embedded
from tests.load.wire.framing.frame import MOST, Framer
from tests.load.wire.framing.http import Http
from tests.load.wire.framing.iproto import Iproto
from tests.load.wire.framing.memcached import Memcached
from tests.load.wire.framing.mongo import Mongo
from tests.load.wire.framing.mysql import Mysql
from tests.load.wire.framing.postgres import Postgres
from tests.load.wire.framing.resp import Resp

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

    As `storeproof.native.replies`.
    """
    framer = FRAMERS[protocol]()
    step = max(chunk, 1)
    found = [reply for at in range(0, len(data), step) for reply in framer.feed(data[at : at + step])]
    return [(reply.count, reply.error, reply.length) for reply in found], framer.problem


__all__ = ["FRAMERS", "MOST", "replies"]
