"""The noise floor of a machine: how much two measurements of the same thing differ (A/A test)."""

from __future__ import annotations

from typing import Final

from storeproof.errors import NotAvailable
from storeproof.load.quality.reference_load import ANSWERS, reference_rate
from storeproof.load.wire.null_server import NullServer
from storeproof.stats.ratio import Ratio, ratio_of

ROUNDS: Final = 5
"""Rounds of each of the two."""
CLIENTS: Final = 50
_LONGEST: Final = 0.25
"""Seconds of a round."""


def noise_floor(server: NullServer, round_seconds: float) -> Ratio:
    """The ratio of A to A, two times the same load on a server that does nothing, in rounds that take turns; with its 95 % interval.

    Args:
        round_seconds: of a round of the run; these are shorter, and all of them together take four times as long, 2.5 s at most.

    Raises:
        NotAvailable: nothing is compiled here, or the machine is so busy that a round had no answer.
        OSError: connections cannot be made.
    """
    rates: tuple[list[float], list[float]] = ([], [])
    with server.connections(ANSWERS, CLIENTS) as sockets:
        for number in range(2 * ROUNDS):
            # A B, B A, A B and so on: what grows with time grows for both.
            rates[(number + 1) // 2 % 2].append(reference_rate(sockets, min(_LONGEST, 0.4 * round_seconds), number))
    if min(map(min, rates)) <= 0:
        raise NotAvailable("a server that does nothing gave no answer in a whole round: the machine is busy")
    return ratio_of(*rates)
