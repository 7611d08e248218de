"""How strong the evidence is that faults lose no data, after a number of rounds."""

from __future__ import annotations

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
    from scipy.special import bdtri  # here, because importing it takes longer than the rest of the project

    return float(bdtri(lossy, faults, 1 - CONFIDENCE))
