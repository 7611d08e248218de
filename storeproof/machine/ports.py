"""Finds free ports and the process that listens on a port, by sock_diag(7): a result must never come from the wrong server."""

from __future__ import annotations

import errno
import os
import random
import re
import socket
import struct
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import psutil

from storeproof.errors import NotAvailable
from storeproof.machine.process_tree import link

_SOCK_DIAG: Final = 4
"""NETLINK_SOCK_DIAG: linux/netlink.h."""
_BY_FAMILY: Final = 20
"""SOCK_DIAG_BY_FAMILY: linux/sock_diag.h."""
_DUMP: Final = 0x301
"""NLM_F_REQUEST | NLM_F_DUMP: linux/netlink.h."""
_LISTENING: Final = 1 << 10
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
    """The inodes of the sockets in this network namespace that listen on a TCP port, at any address; empty if the kernel does not tell.

    /proc/net/tcp has the connections too, and the kernel goes through all its hash buckets for it: 14 ms for four thousand that wait for
    their end, as a run leaves them behind. This takes a twentieth of a millisecond.
    """
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
        asked = _REQUEST.pack(family, socket.IPPROTO_TCP, 0, 0, _LISTENING)
        kernel.send(_HEADER.pack(_HEADER.size + len(asked), _BY_FAMILY, _DUMP, 0, 0) + asked)
        while data := kernel.recv(_BYTES):
            while data:
                length, kind, *_ = _HEADER.unpack_from(data)
                if kind != _BY_FAMILY:  # the end, or an error
                    return
                yield data[_HEADER.size : length]
                data = data[(length + 3) & ~3 :]


_LISTEN = b"0A"
"""TCP_LISTEN in /proc/net/tcp."""


def free_port() -> int:
    """An unused TCP port of 127.0.0.1, below the ephemeral range that the kernel assigns to outgoing connections.

    A port of that range can be taken while the server is down, even by its own clients: a connection from 127.0.0.1:P to 127.0.0.1:P
    succeeds without a server.

    Raises:
        NotAvailable: none was found.
    """
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    for port in random.SystemRandom().sample(range(first // 2, first), 200):
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise NotAvailable("no free TCP port was found on 127.0.0.1", "end the servers that are not needed: ss -ltnp")


def free_ports(number: int) -> list[int]:
    """`number` distinct ports from `free_port`."""
    found: list[int] = []
    while len(found) < number:
        if (port := free_port()) not in found:
            found.append(port)
    return found


def is_listened_on(port: int) -> bool:
    """Whether any process listens on a TCP port, at any address.

    A port that can be bound has no listener. Only otherwise is /proc/net/tcp read, directly: the kernel goes through all its hash
    buckets for that, 30 ms for two thousand sockets, and psutil would also look for the process of each socket.
    """
    if _can_be_bound(port, socket.AF_INET, "0.0.0.0") and _can_be_bound(port, socket.AF_INET6, "::"):  # noqa: S104 - only a test
        return False
    listener = re.compile(rb": [0-9A-F]+:%04X [0-9A-F]+:[0-9A-F]{4} %s " % (port, _LISTEN))
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(FileNotFoundError):
            if listener.search(Path(table).read_bytes()):
                return True
    return False


def _can_be_bound(port: int, family: socket.AddressFamily, any_address: str) -> bool:
    try:
        with socket.socket(family) as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections in TIME_WAIT do not block it
            if family == socket.AF_INET6:
                tried.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            tried.bind((any_address, port))
    except OSError as reason:
        return reason.errno in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)  # no IPv6 here, so no process listens there
    return True


def is_listener(pids: Iterable[int], port: int) -> bool:
    """Whether one of the processes listens on the port."""
    pids, sockets = list(pids), listening_sockets(port)
    if sockets and any(_has_socket(pid, sockets) for pid in pids):
        return True
    for pid in pids:  # in another network namespace, or where the kernel does not tell
        with suppress(psutil.Error):  # it has ended, or may not be inspected
            if any(_listens(each, port) for each in psutil.Process(pid).net_connections("tcp")):
                return True
    return False


def _has_socket(pid: int, inodes: Collection[int]) -> bool:
    """Whether the process has one of these sockets open, as far as this user may see that."""
    found = {f"socket:[{inode}]" for inode in inodes}
    with suppress(OSError):
        return any(link(pid, f"fd/{name}") in found for name in os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208 - names are all that is needed
    return False


def describe_listener(port: int) -> str:
    """`pid N (name)` of the process that listens on a port, as far as this user may inspect it."""
    pid = next((each.pid for each in psutil.net_connections("tcp") if _listens(each, port) and each.pid is not None), None)
    if pid is None:
        return "a process that this user may not inspect"
    try:
        return f"pid {pid} ({psutil.Process(pid).name()})"
    except psutil.Error:
        return f"pid {pid}"


def _listens(connection: Any, port: int) -> bool:
    return bool(connection.status == psutil.CONN_LISTEN and connection.laddr.port == port)
