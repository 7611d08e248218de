"""Exact decimals in what a store answers as JSON, at the paths where a model has them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from storeproof.contract import Path
from storeproof.spec.query import Aggregation


def inside(decimals: Collection[Path], place: Path) -> set[Path]:
    """The paths from a place on of the decimals that are in it."""
    return {path[len(place) :] for path in decimals if path[: len(place)] == place}


def of_rows(request: Aggregation, decimals: Collection[Path]) -> frozenset[Path]:
    """The names of an aggregation's rows under which there are decimals."""
    names = [name for name, bucket in request.by.items() if bucket.path in decimals and not bucket.width]
    measures = request.compute.items()
    names += [name for name, measure in measures if measure.path in decimals and measure.function not in ("count", "distinct")]
    return frozenset((name,) for name in names)


def restored(value: Any, decimals: Collection[Path], scalar: Callable[[Any, bool], Any], place: Path = ()) -> Any:
    """The value with `scalar(each, exact)` in place of all that is no list and no object, where `exact` is whether a decimal is there."""
    if isinstance(value, dict):
        return {name: restored(item, decimals, scalar, (*place, name)) for name, item in value.items()}
    if isinstance(value, list):
        return [restored(item, decimals, scalar, (*place, position)) for position, item in enumerate(value)]
    return scalar(value, place in decimals)
