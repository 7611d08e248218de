"""How strong the evidence is that faults lose no data, after a number of rounds."""

from __future__ import annotations

from math import ceil
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
