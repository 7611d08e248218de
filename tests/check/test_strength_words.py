"""What a number of faults supports, in words."""

from __future__ import annotations

import pytest

from storeproof.check import upper_bound
from storeproof.check.strength import percent, strength


def test_no_loss() -> None:
    """Twenty faults without a loss exclude a share of 14 %."""
    said = strength(20, 0, upper_bound(20, 0))
    assert said == "no loss in 20 faults: with 95 % confidence fewer than 14 % of such faults lose anything"


def test_some_losses() -> None:
    """One loss raises the bound."""
    assert strength(20, 1, upper_bound(20, 1)).startswith("a loss in 1 of 20 faults: with 95 % confidence fewer than 22 %")


def test_a_loss_in_every_fault() -> None:
    """It excludes nothing, and says so."""
    assert strength(1, 1, 1.0) == "a loss in 1 of 1 fault: too few to exclude that all such faults lose anything"


@pytest.mark.parametrize(
    ("share", "text"), [(0.1391, "14 %"), (0.14, "14 %"), (0.1401, "15 %"), (0.00997, "1 %"), (0.0051, "0.6 %"), (0.95, "95 %")]
)
def test_a_share_is_rounded_up(share: float, text: str) -> None:
    """Rounded to the nearest it would claim too much."""
    assert percent(share) == text
