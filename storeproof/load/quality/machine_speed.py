"""How fast the machine itself is just then, by short readings between rounds: see docs/METHOD.md#the-speed-of-the-machine.

A virtual machine shares its host with others that nothing in it shows. On the one that was tried, clients and servers on different cores
reached 0.78 of their rate for 6 to 60 seconds at a time, up to 37 % of the time, while computation was 2 % slower and no time counted as
stolen. The reference load has the same part in it as a measurement, and knows the one state from the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from time import monotonic, process_time
from typing import Final

import psutil

from storeproof.load.quality.reference_load import ANSWERS, reference_rate
from storeproof.load.wire.null_server import NullServer
from storeproof.machine.cores import running_on
from storeproof.stats.latency import nearest_rank

SLOW: Final = 0.85
"""Share of the baseline below which the machine is slow: between the 0.78 of a slow machine, and the 0.91 that one reading in fifty of a
fast one does not reach."""
_BASELINE: Final = 0.9
"""Share of the readings that do not exceed the baseline."""
_OTHER_WORK: Final = 0.3
"""Cores. A process that computes takes 1.0 of them; with none the kernel's clock ticks scatter by 0.1."""
_CLIENTS: Final = 16
_TRIES: Final = 3
_SECONDS: Final = 0.025
"""Seconds that one try takes."""


class MachineSpeed:
    def __init__(self, server: NullServer, cores: Sequence[int] = ()) -> None:
        """Open the connections, which `close` closes. Raises `OSError`. `cores`: of the load generator; empty: it has none of its own."""
        self._cores = cores
        self._open = ExitStack()
        self._sockets = self._open.enter_context(server.connections(ANSWERS, _CLIENTS))
        self._server = psutil.Process(server.pid)
        self._readings: list[float] = []

    @property
    def baseline(self) -> float:
        """What nine in ten readings of the run do not exceed, so that a few that were lucky do not make all others slow; 0 without any."""
        return nearest_rank(self._readings, _BASELINE) or 0.0

    def read(self) -> float | None:
        """A reading: requests per second of the reference load, the best of three tries, since whatever strikes one makes it slower.

        None if other work took three tenths of a core meanwhile: a store that goes on by itself after its round, to rewrite its log for
        example, is no slow machine.
        """
        began, before = monotonic(), self._of_others()
        with running_on(self._cores):
            rate = max(reference_rate(self._sockets, _SECONDS, _TRIES * len(self._readings) + each) for each in range(_TRIES))
        if self._of_others() - before > _OTHER_WORK * (monotonic() - began):
            return None
        self._readings.append(rate)
        return rate

    def close(self) -> None:
        self._open.close()

    def _of_others(self) -> float:
        """Processor seconds that all but the reference load have used, the kernel's own threads included."""
        every, served = psutil.cpu_times(), self._server.cpu_times()
        whole = every.user + every.nice + every.system + every.irq + every.softirq  # packets are handled within a softirq
        return whole - process_time() - served.user - served.system
