"""How much rounds without a loss, or with few, say about the next one."""

from __future__ import annotations

from math import comb
from typing import Final

CONFIDENCE: Final = 0.95

_HALVINGS: Final = 60
"""Of the interval from 0 to 1: beyond what a double tells apart."""


def upper_bound(faults: int, lossy: int) -> float:
    """The share of faults that cost something is not above this, with 95 % confidence, if `lossy` of `faults` did.

    The exact upper limit of a binomial share: Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case
    of the binomial", Biometrika 26 (1934), one-sided: the share at which `lossy` or fewer would be seen with a probability of 5 %.
    For no loss that is 1 - 0.05^(1/n). It takes the faults for independent and alike, and says nothing of faults of another kind.

    Raises:
        ValueError: no fault, or more losses than faults.
    """
    if not 0 <= lossy <= faults or faults == 0:
        raise ValueError(f"at least one fault, and as many losses at most; found {lossy} of {faults}")
    if lossy == faults:
        return 1.0
    if lossy == 0:
        return 1.0 - float((1 - CONFIDENCE) ** (1 / faults))
    low, high = lossy / faults, 1.0
    for _ in range(_HALVINGS):
        share = (low + high) / 2
        if _at_most(lossy, faults, share) > 1 - CONFIDENCE:
            low = share
        else:
            high = share
    return high


def _at_most(lossy: int, faults: int, share: float) -> float:
    """The probability of that many losses or fewer."""
    return sum(float(comb(faults, each)) * share**each * (1 - share) ** (faults - each) for each in range(lossy + 1))
