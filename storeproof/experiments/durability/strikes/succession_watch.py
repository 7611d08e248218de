"""Watches a failover: nodes that were not struck are asked again and again whether they miss the primary, and who takes writes."""

from __future__ import annotations

import threading
from time import monotonic_ns
from typing import Final, Self

from storeproof.contract import Refused, Unknown
from storeproof.evidence import Succession
from storeproof.experiments.client_threads import ClientThread, wait_for
from storeproof.halt import HANG_SECONDS
from storeproof.launch.handle import RunningCluster

_LOOK_SECONDS: Final = 0.05
"""Between two questions whether the struck one is missed, which some answer without saying since when."""


class SuccessionWatch:
    """How another node takes the place of a struck one, within its block. Only those are asked that the fault did not strike: it may keep
    the answer of the struck one back for as long as the adapter waits."""

    def __init__(self, cluster: RunningCluster, struck: str, since: int) -> None:
        """`since`: when the fault began, in nanoseconds; what the nodes say of an earlier time is about an earlier failover."""
        self._cluster = cluster
        self._struck = struck
        self._since = since
        self._promoted = False
        self._missed: tuple[int, int] | None = None
        """When at the earliest and at the latest: the question took some time."""
        self._named = ""
        """Who takes writes, by the last answer."""
        self._elected = 0
        """Since when it was named in each answer."""
        self._before: int | None = None
        """When the question was sent whose answer did not name it yet; None: there was none."""
        self._asked: int | None = None
        """When the last question was sent."""
        self._over = threading.Event()
        self._looking = ClientThread(self._look, "storeproof-watch")

    def __enter__(self) -> Self:
        """Promote a node, where that is the operator's task; else begin to ask whether the struck one is missed: some are not known to take
        writes before they acknowledge one, which may take long. Raises `Unknown`: the promotion failed."""
        began = monotonic_ns()
        named = self._cluster.fail_over()
        if named is None:
            self._looking.start()
        else:
            self._promoted, self._named, self._elected, self._before = True, named, monotonic_ns(), began
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        wait_for([self._looking], HANG_SECONDS)

    def ask(self) -> str:
        """The primary as the others name it now. Raises `Unknown` or `Refused`: they name none."""
        asked, named = monotonic_ns(), ""
        try:
            named = self._cluster.successor_of(self._struck)
        finally:
            if named != self._named:
                self._named, self._elected, self._before = named, monotonic_ns(), self._asked
            self._asked = asked
        return named

    def seen(self, acknowledged: int) -> Succession:
        """After the block, in which the one that was named last has acknowledged a write, at that moment."""
        if not self._promoted and self._missed is None:
            self._look_once()  # some tell it only once they have elected another
        elected = None if self._before is None else self._elected
        missed, end = None, acknowledged if elected is None else elected
        if self._missed is not None and self._missed[0] <= end:  # else it is not why another was elected
            missed = min(self._missed[1], end)
        return Succession(self._promoted, missed, elected, self._before)

    def _look(self) -> None:
        self._look_once()
        while self._missed is None and not self._over.wait(_LOOK_SECONDS):
            self._look_once()

    def _look_once(self) -> None:
        asked = monotonic_ns()
        try:
            seconds = self._cluster.missed(self._struck)
        except (Unknown, Refused):
            return
        if seconds is not None:
            earliest, latest = (moment - int(seconds * 1e9) for moment in (asked, monotonic_ns()))
            if latest >= self._since:
                self._missed = earliest, latest
