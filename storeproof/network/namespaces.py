"""Network namespaces: their names, which say whose they are, and a block within one.

The name is the mark: it is there from the first moment, and gone with the namespace. `ip netns` keeps the names in memory, so none of them
outlives a boot.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from storeproof.errors import MachineFailed
from storeproof.machine.owner import Owner, this_process

NAMED: Final = Path("/run/netns")
"""Where `ip netns` keeps the names."""
_NAME: Final = re.compile(r"storeproof-(\d+)-(\d+)-(\d+)-([0-9a-f]{8})-(.+)")
_CLONE_NEWNET: Final = 0x40000000
"""include/uapi/linux/sched.h."""

_libc = ctypes.CDLL(None, use_errno=True)
"""For setns: Python has it from 3.12 on."""


@dataclass(frozen=True)
class NetworkMark:
    """The names of all parts of one network, and its owner."""

    owner: Owner
    number: str
    """Eight hexadecimal digits."""

    @classmethod
    def make(cls) -> Self:
        """A new one, of this process."""
        return cls(this_process(), secrets.token_hex(4))

    def namespace(self, part: str) -> str:
        owner = self.owner
        return f"storeproof-{owner.pid}-{owner.start}-{owner.namespace}-{self.number}-{part}"

    @property
    def interface(self) -> str:
        """The name of the interface outside the namespaces, through which this machine's processes reach the nodes."""
        return f"sp{self.number}"

    @property
    def metric(self) -> int:
        """The metric of the route that says `unreachable`, by which it is found: routes have no names. A route of an interface has 0, and
        comes first."""
        return int(self.number, 16) or 1


def find_marks() -> dict[NetworkMark, list[str]]:
    """The networks of storeproof on this machine, of any owner, each with the names of its namespaces."""
    here = this_process()
    found: dict[NetworkMark, list[str]] = {}
    try:
        names = sorted(os.listdir(NAMED))  # noqa: PTH208 - only the names are needed
    except OSError:
        return {}
    for name in names:
        if (parts := _NAME.fullmatch(name)) is not None:
            owner = replace(here, pid=int(parts[1]), start=int(parts[2]), namespace=parts[3])
            found.setdefault(NetworkMark(owner, parts[4]), []).append(name)
    return found


@contextlib.contextmanager
def entered(name: str | None) -> Iterator[None]:
    """Run this thread in a network namespace until the end of the block, with all processes that it starts and sockets that it opens; None:
    it stays where it is.

    `nsenter` would be another process between us and the server, and the server's program could not be told by its first argument.

    Raises:
        MachineFailed: there is no such namespace, or it may not be entered.
    """
    if name is None:
        yield
        return
    try:
        # Of this thread: /proc/self has that of the main thread.
        before = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as reason:
        raise MachineFailed(f"the network namespace of this thread cannot be opened: {reason}") from None
    try:
        try:
            wanted = os.open(NAMED / name, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as reason:
            raise MachineFailed(f"the network namespace {name} is gone: {reason.strerror}") from None
        try:
            _enter(wanted)
        finally:
            os.close(wanted)
        try:
            yield
        finally:
            _enter(before)
    finally:
        os.close(before)


def _enter(descriptor: int) -> None:
    if _libc.setns(descriptor, _CLONE_NEWNET) != 0:
        raise MachineFailed(f"a network namespace cannot be entered: {os.strerror(ctypes.get_errno())}", "run it as root")
