"""Which protocol a store's file names."""

from __future__ import annotations

from typing import Final, cast, get_args

from storeproof.errors import UsageError
from storeproof.load.wire.request import WireProtocol
from storeproof.spec.store import Target

_RENAMED: Final = {"length32": "embedded"}


def protocol_of(target: Target) -> WireProtocol | None:
    """The protocol between a store's client and its server, where its file names one.

    Raises:
        UsageError: it names another one than those that the wire engine knows.
    """
    named = target.store.wire
    if named is not None and named not in get_args(WireProtocol):
        renamed = f" (it is called `{_RENAMED[named]}` now)" if named in _RENAMED else ""
        raise UsageError(f"{target.file}: wire: found '{named}'{renamed}; allowed: {', '.join(get_args(WireProtocol))}")
    return cast("WireProtocol | None", named)
