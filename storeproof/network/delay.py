"""Holds each packet between nodes back for the same time: by netfilter queues, since a kernel need not have `netem`, which does it alone.

Nothing is slower before and after: the rules that send packets into the queues, and the process that lets them go on, are there only
meanwhile. If the process is gone the rules let all pass.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from storeproof.errors import MachineFailed

_SECONDS: Final = 30.0
"""For the process to start, to let go what it holds, or to end."""


class Delay:
    """The process that holds packets back, see `delay_child`. It ends with this one, however that ends."""

    def __init__(self, seconds: float, namespaces: Sequence[str]) -> None:
        """Hold each packet for that long which a rule gives to the queue of one of these namespaces.
        Raises `MachineFailed`: packets cannot be held there."""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "storeproof.network.delay_child", str(os.getpid()), str(seconds), *namespaces],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # as every program of the network
        )
        self._await(b"ready\n", "failed", "it did not start in time")

    def release(self) -> None:
        """Let all go on that are held, in their order, and from now on each as it comes. All have gone when this returns: what a queue
        still holds is lost when the rules are replaced that send packets there.

        Raises:
            MachineFailed: the process has ended before: packets were not held for some time.
        """
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()
        self._await(b"released\n", "ended", "it was killed")

    def _await(self, word: bytes, otherwise: str, silent: str) -> None:
        """Wait until the process says this. `silent`: why it did not, if it says nothing of it."""
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], _SECONDS)
        if not ready or self._process.stdout.readline() != word:
            self._process.kill()
            said = self._process.communicate()[1].decode(errors="replace").strip().splitlines() or [silent]
            raise MachineFailed(f"the process that holds packets back {otherwise}: {said[-1]}")

    def close(self) -> None:
        """End the process; never raises. Call it when no rule gives packets to it any more: what is on its way is lost."""
        try:
            self._process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
