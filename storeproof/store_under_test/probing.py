"""Calls of an adapter outside a case: connecting, and asking whether a server answers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from storeproof.contract import Adapter, Address, Breach, Session


@contextlib.contextmanager
def forbid_exit() -> Iterator[None]:
    """Turn a `sys.exit` in an adapter into a `Breach`: it must not end the run, nor silently end a thread."""
    try:
        yield
    except SystemExit as ended:
        raise Breach(f"the adapter called sys.exit({ended.code!r}); it must raise Refused, Unknown or Unsupported") from None


def connect(adapter: Adapter, address: Address, options: Mapping[str, str]) -> Session:
    """Open a session. Raises as the adapter's `connect`."""
    with forbid_exit():
        return adapter.connect(address, options)


def probe(adapter: Adapter, options: Mapping[str, str], address: Address) -> None:
    """Return if a server answers at the address. Raises as the adapter's `connect` and `version`."""
    session = connect(adapter, address, options)
    try:
        with forbid_exit():
            session.version()
    finally:
        session.close()
