"""Rounds that say nothing about the store, since the machine failed or no answer came: they are done again, up to a limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from storeproof.blame import judge
from storeproof.contract import Unknown
from storeproof.errors import MachineFailed

AT_LEAST: Final = 3
"""Rounds that are repeated in any case; and as many as are asked for, if those are more."""


def limit(rounds: int) -> int:
    """How many spoiled rounds are repeated where so many are asked for."""
    return max(AT_LEAST, rounds)


def repeat_spoiled(attempt: Callable[[], None], spoiled: list[str], most: int) -> bool:
    """Call `attempt`, which goes on where an earlier call ended, until it returns; False where more than `most` were spoiled.

    Args:
        attempt: raises `MachineFailed` or `Unknown` where a round says nothing.
        spoiled: gets the reason of each, in one line.
    """
    while len(spoiled) <= most:
        try:
            attempt()
        except (MachineFailed, Unknown) as reason:
            spoiled.append(judge(reason, claimed=True).detail.partition("\n")[0])
        else:
            return True
    return False
