"""Packets that the kernel holds until this process lets them go on: one netfilter queue of one network namespace.

Of the libraries for it, libnetfilter_queue and what binds it are compiled, and under the GPL; the crate `nfq` would make clusters need the
compiled part of storeproof. Here the kernel tells a number for each packet and keeps what is in it, and one answer lets all packets up to a
number go on: so few messages are needed that they are written here (include/uapi/linux/netfilter/nfnetlink_queue.h).
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterator
from typing import Final

from storeproof.errors import MachineFailed
from storeproof.network.namespaces import entered

NUMBER: Final = 1
"""The number of the queue in its namespace."""
_MOST: Final = 50_000
"""Packets that are held at a time: those of a second at more than any store sends. More go on at once (fail open)."""
_BUFFER_BYTES: Final = 64 << 20
"""For what the kernel tells of them: some hundred bytes each."""

_NETLINK_NETFILTER: Final = 12
_SUBSYSTEM: Final = 3 << 8
_PACKET, _CONFIG, _VERDICT_BATCH = (_SUBSYSTEM | kind for kind in (0, 2, 3))
_ERROR: Final = 2
_REQUEST, _WITH_ANSWER = 1, 4
_COMMAND, _PARAMETERS, _LENGTH, _MASK, _FLAGS = 1, 2, 3, 4, 5
"""Attributes of `_CONFIG`."""
_BIND: Final = 1
_NUMBER_ALONE: Final = 1
"""The copy mode "meta": what is in the packets is not copied."""
_FAIL_OPEN, _UNSEGMENTED = 1, 4
_PACKET_HEADER: Final = 1
"""The first attribute of each `_PACKET`."""
_VERDICT_HEADER: Final = 2
_ACCEPT: Final = 1
_HEADER: Final = struct.Struct("=IHHII BBH")
"""Length, type, flags, sequence, port; then family and version, of any protocol, and the queue's number in network order."""
_ANSWER: Final = struct.Struct("=16x i")
_FIRST: Final = struct.Struct("=20x 2x H")
_ITS_NUMBER: Final = struct.Struct("!24x I")
_SO_RCVBUFFORCE: Final = 33
"""include/uapi/asm-generic/socket.h: Python does not name it."""


class PacketQueue:
    """Packets that a rule of iptables gives it (`-j NFQUEUE`) wait until `accept`. If it is closed they are lost."""

    def __init__(self, namespace: str) -> None:
        """Open it in that network namespace. Raises `MachineFailed`: the kernel has no such queues, or another process has this one."""
        with entered(namespace):
            self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_NETFILTER)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
            self._configure(
                _attribute(_COMMAND, struct.pack("!BBH", _BIND, 0, 0)),
                _attribute(_PARAMETERS, struct.pack("!IB", 0, _NUMBER_ALONE)),
                _attribute(_LENGTH, struct.pack("!I", _MOST)),
                _attribute(_MASK, struct.pack("!I", _FAIL_OPEN | _UNSEGMENTED)),
                _attribute(_FLAGS, struct.pack("!I", _FAIL_OPEN | _UNSEGMENTED)),
            )
            self._socket.setblocking(False)
        except OSError as reason:
            self._socket.close()
            raise MachineFailed(f"packets cannot be held back: {reason.strerror}") from None

    def fileno(self) -> int:
        """Readable when packets have come."""
        return self._socket.fileno()

    def arrived(self) -> Iterator[int]:
        """The numbers of the packets that have come since the last call, in their order."""
        while True:
            try:
                told = self._socket.recv(65536)
            except BlockingIOError:
                return
            except OSError as reason:
                if reason.errno == errno.ENOBUFS:  # those of which it could not tell have gone on
                    continue
                raise
            _, kind, *_ = _HEADER.unpack_from(told)
            if kind == _PACKET and _FIRST.unpack_from(told) == (_PACKET_HEADER,):
                (number,) = _ITS_NUMBER.unpack_from(told)
                yield number

    def accept(self, number: int) -> None:
        """Let all packets up to this one go on, in their order."""
        self._socket.send(_message(_VERDICT_BATCH, 0, _attribute(_VERDICT_HEADER, struct.pack("!II", _ACCEPT, number))))

    def close(self) -> None:
        """Drop those that are still held."""
        self._socket.close()

    def _configure(self, *attributes: bytes) -> None:
        self._socket.send(_message(_CONFIG, _WITH_ANSWER, *attributes))
        told = self._socket.recv(65536)
        if (status := -_ANSWER.unpack_from(told)[0]) != 0:
            raise OSError(status, os.strerror(status))


def _message(kind: int, flags: int, *attributes: bytes) -> bytes:
    body = b"".join(attributes)
    return _HEADER.pack(_HEADER.size + len(body), kind, _REQUEST | flags, 0, 0, socket.AF_UNSPEC, 0, socket.htons(NUMBER)) + body


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + b"\0" * (-len(value) % 4)
