"""Where stores and load generator ran, in words."""

from __future__ import annotations

from storeproof import units
from storeproof.result.model import Environment


def placement(environment: Environment) -> list[tuple[str, str]]:
    """Lines for the table of the machine; none for a result that does not say."""
    found = environment.placement
    if found is None:
        return []
    given = f"{_cores(found.server)}; load generator: {_cores(found.generator)}" + (f" ({found.shared})" if found.shared else "")
    memory = units.size(found.memory_bytes) if found.memory_bytes is not None else "not limited"
    return [("cores of each store while it is measured", given), ("memory of each store", memory)]


def _cores(numbers: list[int]) -> str:
    return f"{units.plural(len(numbers), 'core')} ({', '.join(map(str, numbers))})"
