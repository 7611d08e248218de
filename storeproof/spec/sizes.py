"""Value sizes that vary from write to write."""

from __future__ import annotations

from typing import Annotated, Final, Self

from pydantic import Field, PositiveInt, Strict, model_validator

from storeproof.spec.base import Frozen, RuleError

LEAST: Final = 17
"""Minimum bytes of what begins with its write id under load: `0001:00000000042|`."""
SHORTEST: Final = 3
"""Minimum bytes of a value under load. Below `LEAST` it has no room for its write id, and follows from it; shorter ones would be found by
chance anywhere in a request."""
_STEPS: Final = 32
"""Number of sizes in a uniform distribution; an engine needs a request template for each."""
_SHARES: Final = 100

Size = Annotated[int, Field(ge=SHORTEST)]
_Drawn = Annotated[int, Field(ge=LEAST)]


class Sizes(Frozen):
    """Bytes of a value, drawn per write; the same for the same record and write."""

    uniform: Annotated[tuple[_Drawn, _Drawn], Strict(False)] | None = None
    """Minimum and maximum, in 32 equally likely steps."""
    histogram: dict[_Drawn, PositiveInt] | None = None
    """Weight of each size, at most 100 in total: `{100: 3, 5000: 1}` makes one write in four large."""

    @model_validator(mode="after")
    def _is_one_of_several_sizes(self) -> Self:
        if (self.uniform is None) == (self.histogram is None):
            raise RuleError("allowed: {uniform: [SMALLEST, LARGEST]} or {histogram: {SIZE: SHARE, ...}}")
        if self.uniform and self.uniform[0] >= self.uniform[1]:
            raise RuleError(f"found {list(self.uniform)}; allowed: the smallest size, and then a larger one", "uniform")
        if self.histogram is not None and len(self.histogram) < 2:
            raise RuleError(f"found {len(self.histogram)} of them; allowed: two or more sizes; for a single one use `size`", "histogram")
        if self.histogram and (shares := sum(self.histogram.values())) > _SHARES:
            raise RuleError(f"found {shares} shares in all; allowed: at most {_SHARES}", "histogram")
        return self

    def __str__(self) -> str:
        """As in case names: `uniform-32-1000`, or `histogram-` with each size and weight."""
        if self.uniform:
            return f"uniform-{self.uniform[0]}-{self.uniform[1]}"
        return "histogram-" + "-".join(f"{size}x{share}" for size, share in sorted((self.histogram or {}).items()))

    @property
    def table(self) -> tuple[int, ...]:
        """Sizes in ascending order, each repeated by its weight, to draw from uniformly."""
        if self.histogram:
            return tuple(size for size, share in sorted(self.histogram.items()) for _ in range(share))
        low, high = self.uniform or (LEAST, LEAST)
        steps = min(_STEPS, high - low + 1)
        return tuple(low + (high - low) * step // (steps - 1) for step in range(steps))
