"""One connection of the pump in pure Python, and what is in flight on it."""

from __future__ import annotations

import socket
from collections import deque
from typing import Any, Final

from storeproof.load.wire.asking import Asker, Task, Written
from storeproof.load.wire.framing import FRAMERS
from storeproof.load.wire.request import Job

LOST_CAUSE: Final = 100
"""Errors in a row after which a client gives up, as those of the driver engine do."""
_LEAST: Final = 1 << 12
"""Bytes that are asked for at once, to begin with."""


class Client:
    """One connection, and what is in flight on it."""

    def __init__(self, number: int, connection: socket.socket, asker: Asker, job: Job) -> None:
        self.number = number
        self.connection = connection
        self.asker = asker
        self.fresh = asker.fresh
        ids = [each.id_reply for op in job.ops for each in op.templates if each.id_reply]
        self.framer = FRAMERS[job.protocol](max((offset + width for offset, width, _order in ids), default=0))
        self.flight: deque[Written] = deque()
        self.due: list[Written] = []
        """Second requests of operations whose first was answered: to be sent before anything else, and not in flight yet."""
        self.stamp = b"%04d:" % (number + 1)
        self.sequence = job.sequence
        self.request_id = 0
        self.unsent = b""
        self.room = _LEAST
        self.frames = 0
        self.frames_error: str | None = None
        self.in_a_row = 0
        self.ok = 0
        self.requests = 0
        self.ended = 0
        self.finished = False
        self.lost = False
        """The connection is not to be used again."""

    def write(self, task: Task, number: Any) -> tuple[bytes, tuple[int, int, str] | None] | None:
        """The next request, about these keys, and where replies bear its id, which is `request_id`; None where no template has room."""
        stamp = self.stamp + b"%011d" % self.sequence
        writer = task.only or task.writer(number, stamp)
        if writer is None:
            return None
        self.request_id += 1
        self.sequence += 1
        return writer.write(number, self.request_id, stamp), writer.id_reply

    @property
    def gave_up(self) -> bool:
        """It asks no more: nothing is left to be done, or the store refuses all."""
        return self.finished or self.in_a_row >= LOST_CAUSE


def taken(descriptor: int) -> socket.socket:
    """A socket object for a descriptor that stays another's; one made under a default timeout would change its flags."""
    timeout = socket.getdefaulttimeout()
    socket.setdefaulttimeout(None)
    try:
        return socket.socket(fileno=descriptor)
    finally:
        socket.setdefaulttimeout(timeout)
