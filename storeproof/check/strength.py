"""How strong the evidence is that faults lose no data, after a number of rounds."""

from __future__ import annotations

from math import ceil, exp, fsum, lgamma, log
from typing import Final

CONFIDENCE: Final = 0.95


def upper_bound(faults: int, lossy: int) -> float:
    """The upper bound, with 95 % confidence, on the probability that a fault loses data, if `lossy` of `faults` did.

    The exact one-sided limit of a binomial proportion (Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the
    case of the binomial", Biometrika 26, 1934): the probability at which `lossy` or fewer losses are seen in 5 % of such series.
    Without a loss that is 1 - 0.05^(1/n). It assumes independent, identical faults, and says nothing about other kinds of faults.

    Raises:
        ValueError: no fault, or more losses than faults.
    """
    if not 0 <= lossy <= faults or faults == 0:
        raise ValueError(f"expected at least one fault, and no more losses than faults; found {lossy} of {faults}")
    if lossy == faults:
        return 1.0
    low, high = lossy / faults, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _at_most(lossy, faults, middle) > 1 - CONFIDENCE else (low, middle)
    return middle


def _at_most(lossy: int, faults: int, share: float) -> float:
    """The probability of that many losses or fewer, if each fault loses data with the probability `share`."""
    ways = [lgamma(faults + 1) - lgamma(each + 1) - lgamma(faults - each + 1) for each in range(lossy + 1)]
    return fsum(exp(way + each * log(share) + (faults - each) * log(1 - share)) for each, way in enumerate(ways))


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
