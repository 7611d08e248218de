"""Attempts of an adapter at what may be in the way for a moment: another client, or work of the server's own."""

from __future__ import annotations

from time import monotonic
from typing import Final

from storeproof.contract.failures import GaveUp, Refused

_SECONDS: Final = 30.0
_MOST: Final = 10_000
"""Each time another client was faster: that many times in a row does not happen to one of some hundred clients."""


class Attempts:
    """Gives a loop that is left when one succeeds an end, whatever a server answers."""

    def __init__(self, what: str, seconds: float = _SECONDS, most: float = _MOST) -> None:
        """
        Args:
            what: what is attempted.
            seconds: no attempt begins after this time.
            most: as many in vain show that the server lets none succeed; infinite where each may bring the end nearer.
        """
        self._what = what
        self._seconds = seconds
        self._most = most
        self._end = monotonic() + seconds
        self._made = 0

    def count(self) -> None:
        """Another attempt begins.

        Raises:
            GaveUp: the time is over, which says nothing of what the server can do.
            Refused: all attempts were in vain.
        """
        if self._made >= self._most:
            raise Refused(f"{self._what}: {self._made} attempts in a row were in vain")
        if self._made and monotonic() > self._end:
            raise GaveUp(f"{self._what}: {self._made} attempts within {self._seconds:g} s were in vain")
        self._made += 1
