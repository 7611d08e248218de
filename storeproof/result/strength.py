"""States in words what a number of faults shows."""

from __future__ import annotations

from math import ceil


def strength(faults: int, lossy: int, bound: float, what: str = "loss", does: str = "lose anything") -> str:
    """As in "no loss in 20 faults: with 95 % confidence fewer than 14 % of such faults lose anything".

    `bound`: the upper limit of the share of faults with a loss, from 0 to 1; it is rounded up. `what` and `does` replace the words for
    the loss.
    """
    seen = f"no {what} in {_faults(faults)}" if not lossy else f"a {what} in {lossy} of {_faults(faults)}"
    if bound >= 1:
        return f"{seen}: too few to exclude that all such faults {does}"
    return f"{seen}: with 95 % confidence fewer than {percent(bound)} of such faults {does}"


def percent(share: float) -> str:
    """Rounded up, so that the statement stays true: 0.1391 is 14 %, and below 1 % there is one decimal more."""
    if share < 0.01:
        return f"{ceil(round(share * 1000, 6)) / 10:g} %"
    return f"{ceil(round(share * 100, 6))} %"


def _faults(number: int) -> str:
    return f"{number} fault{'' if number == 1 else 's'}"
