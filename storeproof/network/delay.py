"""Holds each packet between nodes back for the same time: by netfilter queues, since a kernel need not have `netem`, which does it alone.

Nothing is slower before and after: the rules that send packets into the queues, and the process that lets them go on, are there only
meanwhile. If the process is gone the rules let all pass.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from storeproof.errors import MachineFailed

_SECONDS: Final = 30.0
"""For the process to start, or to end."""


class Delay:
    """The process that holds packets back, see `delay_child`. It ends with this one, however that ends."""

    def __init__(self, seconds: float, namespaces: Sequence[str]) -> None:
        """Hold each packet for that long which a rule gives to the queue of one of these namespaces.

        Raises:
            MachineFailed: packets cannot be held there.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "storeproof.network.delay_child", str(os.getpid()), str(seconds), *namespaces],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # as every program of the network
        )
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], _SECONDS)
        if not ready or self._process.stdout.readline() != b"ready\n":
            self._process.kill()
            said = self._process.communicate()[1].decode(errors="replace").strip().splitlines() or ["it did not start in time"]
            raise MachineFailed(f"the process that holds packets back failed: {said[-1]}")

    def release(self) -> None:
        """Let all go on that are held, in their order, and from now on each as it comes.

        Raises:
            MachineFailed: the process has ended before: packets were not held for some time.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            said = self._process.communicate()[1].decode(errors="replace").strip().splitlines() or ["it was killed"]
            raise MachineFailed(f"the process that holds packets back ended: {said[-1]}") from None

    def close(self) -> None:
        """End the process; never raises. Call it when no rule gives packets to it any more: what is on its way is lost."""
        try:
            self._process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
