"""Free ports, and who listens on one: a number must never be read from the wrong server."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from storeproof.errors import NotAvailable
from storeproof.machine.process_tree import running

_LISTEN = "0A"
"""TCP_LISTEN in /proc/net/tcp."""


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody uses, below the ports that the kernel hands to outgoing connections.

    A port of that range can be taken while the server is down, even by its own clients: a connection from 127.0.0.1:P
    to 127.0.0.1:P succeeds without any server.
    """
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    for port in random.SystemRandom().sample(range(first // 2, first), 200):
        with socket.socket() as sut:
            sut.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                sut.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise NotAvailable("no free TCP port was found on 127.0.0.1", "end the servers that are not needed: ss -ltnp")


def free_ports(number: int) -> list[int]:
    """So many free ports, as `free_port` has them, no two alike."""
    found: list[int] = []
    while len(found) < number:
        if (port := free_port()) not in found:
            found.append(port)
    return found


def listening(port: int) -> frozenset[str]:
    """The sockets (as /proc/PID/fd names them) that listen on a TCP port of any address."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text(encoding="ascii").splitlines()[1:]
        except FileNotFoundError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(f"socket:[{fields[9]}]")
    return frozenset(found)


def holder(sockets: frozenset[str], pids: Iterable[int] | None = None) -> int | None:
    """The process, of `pids` or of all that we may look into, that holds one of the sockets."""
    for pid in pids if pids is not None else running():
        try:
            descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
        except OSError:
            continue
        for descriptor in descriptors:
            with suppress(OSError):
                if str(descriptor.readlink()) in sockets:
                    return pid
    return None


def describe_user(port: int) -> str:
    """`pid N (name)` of the process that listens on a port, as far as it can be seen."""
    pid = holder(listening(port))
    if pid is None:
        return "a process that this user may not look into"
    try:
        return f"pid {pid} ({Path(f'/proc/{pid}/comm').read_text(encoding='utf-8', errors='replace').strip()})"
    except OSError:
        return f"pid {pid}"
