"""Values of many sizes, as caches and stores have them, in place of one size for all."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import Field, PositiveInt, Strict, model_validator

from storeproof.spec.base import Frozen, RuleError

LEAST: Final = 17
"""Bytes that a value under load has at least: it begins with `0001:00000000042|`, which says who wrote it."""
_STEPS: Final = 32
"""Sizes that an even distribution has: an engine learns how the store's client asks for each of them."""
_SHARES: Final = 100

Size = Annotated[int, Field(ge=LEAST)]


class Sizes(Frozen):
    """Bytes of a value, drawn for each write; of one record and one write it is always the same."""

    uniform: Annotated[tuple[Size, Size], Strict(False)] | None = None
    """The smallest and the largest: in 32 steps, each as likely as any other."""
    histogram: dict[Size, PositiveInt] | None = None
    """For each size its share of the writes, of 100 in all or fewer: `{100: 3, 5000: 1}` makes one write in four large."""

    @model_validator(mode="after")
    def _is_one_of_several_sizes(self) -> Self:
        if (self.uniform is None) == (self.histogram is None):
            raise RuleError("allowed: {uniform: [SMALLEST, LARGEST]} or {histogram: {SIZE: SHARE, ...}}")
        if self.uniform and self.uniform[0] >= self.uniform[1]:
            raise RuleError(f"found {list(self.uniform)}; allowed: the smallest size, and then a larger one", "uniform")
        if self.histogram is not None and len(self.histogram) < 2:
            raise RuleError(f"found {len(self.histogram)} of them; allowed: two sizes or more; for one write `size`", "histogram")
        if self.histogram and (shares := sum(self.histogram.values())) > _SHARES:
            raise RuleError(f"found {shares} shares in all; allowed: at most {_SHARES}", "histogram")
        return self

    def __str__(self) -> str:
        """`uniform-32-1000`, as names of cases have it; of a histogram all that it says."""
        if self.uniform:
            return f"uniform-{self.uniform[0]}-{self.uniform[1]}"
        return "histogram-" + "-".join(f"{size}x{share}" for size, share in sorted((self.histogram or {}).items()))

    @property
    def table(self) -> tuple[int, ...]:
        """Sizes in ascending order, each as often as its share says: one of them is drawn evenly."""
        if self.histogram:
            return tuple(size for size, share in sorted(self.histogram.items()) for _ in range(share))
        low, high = self.uniform or (LEAST, LEAST)
        steps = min(_STEPS, high - low + 1)
        return tuple(low + (high - low) * step // (steps - 1) for step in range(steps))
