"""Hosts an embedded library in a process of its own, so that it can be killed and measured like any server.

A vendor's file is host and adapter in one:

    from storeproof.embedded import serve, session

    def get(database, name, key): ...       # runs in the host; one function for each operation that the store has, and `compact`

    FUNCTIONS = {each.__name__: each for each in (version, read_settings, prepare, clear, get, put, delete, exists)}

    def connect(address, options):          # the adapter
        return session(address, options, FUNCTIONS)

    if __name__ == "__main__":              # the host
        serve(open_database, FUNCTIONS)

An adapter that needs more than that opens the connection itself, by `connect(address)`, and calls `call(function, *arguments)`.

The wire protocol `embedded`, in both directions: four bytes of length, big-endian, then one MessagePack value.

* request: `[name, argument, ...]`
* reply: `[0, count, value]`; `count` is the number of records in the value, so that a load generator can tell a hit from a miss without
  decoding the value: the length of a list or map, a number or boolean itself, 0 of nil, 1 of anything else
* reply: `[1, kind, message]`; `kind` is `refused` (certainly not done), `gave_up` (the same: it waited too long for a lock),
  `unsupported`, `unknown` (perhaps done), or `error`, which is an exception that the host did not expect

A client has one request in flight, or several that are answered in order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from storeproof.embedded.host import Counted, Failure, Server, serve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from storeproof.contract import Address
    from storeproof.embedded.forwarding import ForwardingSession
    from storeproof.embedded.host import Kind as Kind
    from storeproof.embedded.link import HostLink


def connect(address: Address) -> HostLink:
    """Open a connection to the host; `call(name, *arguments)` runs one of its functions.
    Raises `Unknown`: the host does not answer (yet)."""
    from storeproof.embedded.link import HostLink  # imported here, so that the host starts without what only clients need

    return HostLink(address)


def session(
    address: Address, options: Mapping[str, str], functions: Mapping[str, Callable[..., Any]], *, keeps: Collection[str] = ("value",)
) -> ForwardingSession:
    """A session that calls the host's functions: see `embedded.forwarding`. Raises `Unknown` and `Refused` as there."""
    from storeproof.embedded.forwarding import session as opened

    return opened(address, options, functions, keeps=keeps)


__all__ = ["Counted", "Failure", "Server", "connect", "serve", "session"]
