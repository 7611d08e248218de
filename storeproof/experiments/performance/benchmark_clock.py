"""The timer that pytest-benchmark reads: it shows the seconds per operation that the load engine measured.

A round of load is many operations of many clients at once, for a fixed time. pytest-benchmark times the call of a
function; with this timer a round lasts as long as one operation took on average, 1 / throughput, so that its
`OPS` is the throughput, and its statistics, JSON, comparisons and histograms are those of the rounds.
"""

from __future__ import annotations


class OperationClock:
    """Stands still but for what it is told."""

    __name__ = "seconds_per_operation"
    """As pytest-benchmark shows its timer."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        """Seconds of all that was told."""
        return self._now

    def advance(self, throughput: float) -> None:
        """Tell a round: operations per second."""
        self._now += 1 / throughput


CLOCK = OperationClock()
