"""How fast the machine itself is just then, by short readings between rounds: see docs/METHOD.md#the-speed-of-the-machine.

A virtual machine shares its host with others that nothing in it shows. On the one that was tried, clients and servers on different cores
reached 0.78 of their rate for 6 to 60 seconds at a time, a third of the time, while computation was 2 % slower and no time counted as
stolen. The reference load has the same part in it as a measurement, and knows the one state from the other.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Final

from storeproof.load.quality.reference_load import ANSWERS, reference_rate
from storeproof.load.wire.null_server import NullServer

SLOW: Final = 0.9
"""Share of the best rate of a run below which the machine is slow: between the 0.78 and the scatter of the readings, 5 %."""
_CLIENTS: Final = 16
_TRIES: Final = 3
_SECONDS: Final = 0.025


class MachineSpeed:
    """Of one run."""

    def __init__(self, server: NullServer) -> None:
        """Open the connections, which `close` closes. Raises `OSError`."""
        self._open = ExitStack()
        self._sockets = self._open.enter_context(server.connections(ANSWERS, _CLIENTS))
        self._readings = 0
        self.best = 0.0
        """The highest rate so far."""

    def read(self) -> float:
        """A reading: requests per second of the reference load, the best of three tries, since whatever strikes one makes it slower."""
        self._readings += 1
        rate = max(reference_rate(self._sockets, _SECONDS, _TRIES * self._readings + each) for each in range(_TRIES))
        self.best = max(self.best, rate)
        return rate

    def close(self) -> None:
        """Close the connections."""
        self._open.close()
