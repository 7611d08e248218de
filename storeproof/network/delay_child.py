"""The process that holds packets back: of some network namespaces, each packet for the same time.

It is a process of its own since the clients of a run are threads: they would wait for it, and packets for them.

It says `ready` when it holds what comes. A line on its standard input has it let all go on, in order, and hold nothing any more: then it
says `released`. The end of the input has it end. It also ends with its parent, however that ends: then the rules that send it packets let
all pass.
"""

from __future__ import annotations

import math
import os
import select
import sys
from collections import deque
from time import monotonic

from storeproof.network.packet_queue import PacketQueue


class Held:
    """The packets of one namespace."""

    def __init__(self, namespace: str) -> None:
        self.queue = PacketQueue(namespace)
        self._due: deque[tuple[float, int]] = deque()
        """When each may go on, with its number."""

    @property
    def next(self) -> float | None:
        """When the next one may go on."""
        return self._due[0][0] if self._due else None

    def take(self, due: float) -> None:
        """Hold until then what has come."""
        self._due.extend((due, number) for number in self.queue.arrived())

    def let_go(self, now: float) -> None:
        """Let those go on that may."""
        last = None
        while self._due and self._due[0][0] <= now:
            _, last = self._due.popleft()
        if last is not None:
            self.queue.accept(last)


def main(parent: int, seconds: float, namespaces: list[str]) -> None:
    """Hold packets back until the end of the input, or of the parent."""
    parents = os.pidfd_open(parent)
    all_held = [Held(name) for name in namespaces]
    print("ready", flush=True)
    ends = released = False
    while not ends:
        first = min((held.next for held in all_held if held.next is not None), default=None)
        timeout = None if first is None else max(0.0, first - monotonic())
        readable, _, _ = select.select([0, parents, *(held.queue.fileno() for held in all_held)], [], [], timeout)
        ends = parents in readable
        if 0 in readable:
            seconds, ends = 0.0, not os.read(0, 1)
        now = monotonic()
        for held in all_held:
            held.take(now + seconds)
            held.let_go(now if seconds and not ends else math.inf)
        if not (seconds or ends or released):
            print("released", flush=True)
            released = True


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
