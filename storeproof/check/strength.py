"""The strength of the evidence of rounds with no loss or few losses."""

from __future__ import annotations

from typing import Final

CONFIDENCE: Final = 0.95


def upper_bound(faults: int, lossy: int) -> float:
    """The upper bound, with 95 % confidence, of the share of faults with a loss, if `lossy` of `faults` had one.

    The exact upper limit of a binomial share: Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case
    of the binomial", Biometrika 26 (1934), one-sided: the share at which `lossy` or fewer would be seen with a probability of 5 %.
    For no loss that is 1 - 0.05^(1/n). It assumes independent, identical faults, and says nothing about other kinds of faults.

    Raises:
        ValueError: no fault, or more losses than faults.
    """
    if not 0 <= lossy <= faults or faults == 0:
        raise ValueError(f"expected at least one fault, and no more losses than faults; found {lossy} of {faults}")
    if lossy == faults:
        return 1.0
    from scipy.special import bdtri  # only here: it takes longer to import than the rest of the project

    return float(bdtri(lossy, faults, 1 - CONFIDENCE))
