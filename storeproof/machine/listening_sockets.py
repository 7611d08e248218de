"""Asks the kernel which sockets listen on a port: sock_diag(7).

/proc/net/tcp has the connections too, and the kernel goes through all its hash buckets for it: 14 ms for four thousand that wait for their
end, as a run leaves them behind. This takes a twentieth of a millisecond.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

_SOCK_DIAG: Final = 4
"""NETLINK_SOCK_DIAG: linux/netlink.h."""
_BY_FAMILY: Final = 20
"""SOCK_DIAG_BY_FAMILY: linux/sock_diag.h."""
_DUMP: Final = 0x301
"""NLM_F_REQUEST | NLM_F_DUMP: linux/netlink.h."""
_LISTEN: Final = 1 << 10
"""TCP_LISTEN: net/tcp_states.h."""
_HEADER: Final = struct.Struct("=IHHII")
"""nlmsghdr: length, type, flags, sequence number, port."""
_REQUEST: Final = struct.Struct("=BBBBI48x")
"""inet_diag_req_v2: family, protocol, extensions, padding, states, socket."""
_PORT: Final = struct.Struct(">4xH")
_INODE: Final = struct.Struct("=68xI")
"""inet_diag_msg: linux/inet_diag.h."""
_BYTES: Final = 65536
_SECONDS: Final = 1.0


def listening_sockets(port: int) -> set[int]:
    """The inodes of the sockets in this network namespace that listen on a TCP port, at any address; empty if the kernel does not tell."""
    found: set[int] = set()
    for family in (socket.AF_INET, socket.AF_INET6):
        with suppress(OSError):
            for message in _answers(family):
                if _PORT.unpack_from(message)[0] == port:
                    found.add(_INODE.unpack_from(message)[0])
    return found


def _answers(family: socket.AddressFamily) -> Iterator[bytes]:
    """What the kernel says of each listening socket. Raises `OSError` if it refuses."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
        kernel.settimeout(_SECONDS)
        asked = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, _LISTEN)
        kernel.send(_HEADER.pack(_HEADER.size + len(asked), _BY_FAMILY, _DUMP, 0, 0) + asked)
        while data := kernel.recv(_BYTES):
            while data:
                length, kind, *_ = _HEADER.unpack_from(data)
                if kind != _BY_FAMILY:  # the end, or an error
                    return
                yield data[_HEADER.size : length]
                data = data[(length + 3) & ~3 :]
