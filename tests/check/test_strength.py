"""The upper bound of the share of faults that lose something."""

from __future__ import annotations

from math import comb

import pytest

from storeproof.check import upper_bound


@pytest.mark.parametrize(
    ("faults", "lossy", "share"),
    [
        (1, 0, 0.95),
        (20, 0, 0.1391),  # 1 - 0.05^(1/20)
        (59, 0, 0.0495),  # the well-known number of clean trials for "at most 5 %"
        (299, 0, 0.00997),  # and for 1 %
        (20, 1, 0.2161),  # Clopper and Pearson's one-sided limit, as tables of the binomial have it
        (10, 3, 0.6066),
        (20, 20, 1.0),
    ],
)
def test_the_exact_limit(faults: int, lossy: int, share: float) -> None:
    """The upper limit is that of Clopper and Pearson."""
    assert upper_bound(faults, lossy) == pytest.approx(share, abs=5e-5)


@pytest.mark.parametrize(("faults", "lossy"), [(20, 0), (20, 1), (20, 7), (200, 3)])
def test_at_the_limit_so_few_losses_are_seen_once_in_twenty_times(faults: int, lossy: int) -> None:
    """Its definition, computed another way."""
    share = upper_bound(faults, lossy)
    seen = sum(comb(faults, each) * share**each * (1 - share) ** (faults - each) for each in range(lossy + 1))
    assert seen == pytest.approx(0.05, abs=1e-9)


def test_more_faults_say_more_and_more_losses_less() -> None:
    """The limit falls with the number of faults and rises with the number of losses."""
    bounds = [upper_bound(number, 0) for number in range(1, 50)]
    assert bounds == sorted(bounds, reverse=True)
    bounds = [upper_bound(20, number) for number in range(21)]
    assert bounds == sorted(bounds)


@pytest.mark.parametrize(("faults", "lossy"), [(0, 0), (3, 4), (3, -1)])
def test_what_cannot_have_been_seen(faults: int, lossy: int) -> None:
    """No fault, or more losses than faults, is an error."""
    with pytest.raises(ValueError, match="at least one fault"):
        upper_bound(faults, lossy)
