"""Hosts an embedded library in a process of its own, so that it can be killed and measured like any server.

A vendor's file is host and adapter in one:

    from storeproof.embedded import connect, serve

    def get(database, key): ...             # runs in the host: the database, then what the client passed to `call`

    def connect(address, options): ...      # the adapter: its session calls `link.call("get", key)`

    if __name__ == "__main__":
        serve(open_database, {"get": get})

Protocol `embedded`, both ways: four bytes of length, big-endian, then one MessagePack value.

* request: `[name, argument, ...]`
* reply: `[0, count, value]`; `count` says how many records the value tells of, so that a load generator can tell a hit from a miss
  without a look at the value: the length of a list or map, a number or truth itself, 0 of nil, 1 of anything else
* reply: `[1, kind, message]`; `kind` is `refused` (certainly not done), `unsupported`, `unknown` (perhaps done), or `error`, which is
  an exception that the host did not expect

A client has one request in flight, or several that are answered in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from storeproof.embedded.host import Counted, Failure, Kind, Server, serve

if TYPE_CHECKING:
    from storeproof.contract import Address
    from storeproof.embedded.link import Link


def connect(address: Address) -> Link:
    """Open a connection to the host; `call(name, *arguments)` runs one of its functions.

    Raises:
        Unknown: the host does not answer (yet).
    """
    from storeproof.embedded.link import Link  # here: the host itself starts without what clients need

    return Link(address)


__all__ = ["Counted", "Failure", "Kind", "Server", "connect", "serve"]
