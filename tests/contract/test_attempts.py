"""An adapter's loop that ends when its server lets it has an end all the same, and how it ends says who is to blame."""

from __future__ import annotations

import math

import pytest

from storeproof.contract import Attempts, GaveUp, Refused
from storeproof.contract.attempts import _MOST


def test_a_server_that_lets_no_attempt_succeed_is_told_of() -> None:
    """That many in vain are no chance: it is the server's doing."""
    tries = Attempts("cas of 'k'")
    for _ in range(_MOST):
        tries.count()
    with pytest.raises(Refused, match=rf"^cas of 'k': {_MOST} attempts in a row were in vain$") as raised:
        tries.count()
    assert not isinstance(raised.value, GaveUp)


def test_what_took_too_long_says_nothing_of_the_server() -> None:
    """The first attempt is made, however late; then the time is over."""
    tries = Attempts("the end of BGSAVE", seconds=0.0, most=math.inf)
    tries.count()
    with pytest.raises(GaveUp, match=r"^the end of BGSAVE: 1 attempts within 0 s were in vain$"):
        tries.count()
