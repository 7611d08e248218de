"""Waits until a node reaches an address.

For up to a second after a link came up the kernel's switch passes nothing on, and who asked for a neighbour's address before that is told
"No route to host" after it: a server that is healed would fail for the network's sake.
"""

from __future__ import annotations

import errno
import socket
from time import monotonic, sleep
from typing import Final

from storeproof.errors import MachineFailed
from storeproof.network.namespaces import entered

_PORT: Final = 1
"""tcpmux (RFC 1078), which nothing offers: that it is refused is the answer."""
_SECONDS: Final = 60.0
_TRY_SECONDS: Final = 1.0
_PAUSE_SECONDS: Final = 0.01
"""Between two attempts: without a route each fails at once."""


def await_reached(namespace: str | None, address: str) -> None:
    """Until an address answers a connection attempt from a namespace, or from this process's own.
    Raises `MachineFailed`: it did not within 60 s."""
    end = monotonic() + _SECONDS
    while (reason := _tried(namespace, address)) not in (0, errno.ECONNREFUSED):
        if monotonic() > end:
            name = errno.errorcode.get(reason, reason)
            raise MachineFailed(f"the network was healed, and {address} is not reached within {_SECONDS:g} s: {name}")
        sleep(_PAUSE_SECONDS)


def _tried(namespace: str | None, address: str) -> int:
    """The error number of an attempt."""
    with entered(namespace):
        attempt = socket.socket()
    with attempt:
        attempt.settimeout(_TRY_SECONDS)
        return attempt.connect_ex((address, _PORT))
