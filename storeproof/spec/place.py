"""Positions on the Earth in requests: longitude before latitude, in degrees, as in GeoJSON."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

PLACES = frozenset({"within_box", "within_polygon", "near"})
"""Geospatial operators; the model's `places` names the paths with points."""

EARTH_RADIUS = 6_371_008.8
"""Metres: the mean radius of the WGS 84 ellipsoid, (2a + b) / 3, as the IUGG defines it."""

WRITTEN = {
    "within_box": "[west, south, east, north] in degrees",
    "within_polygon": "three or more corners [longitude, latitude]",
    "near": "[longitude, latitude, metres]",
}
"""The value that each operator takes."""


def is_place(value: Any) -> bool:
    """Whether a value is [longitude, latitude]."""
    return isinstance(value, (list, tuple)) and len(value) == 2 and _is_degrees(value[0], 180) and _is_degrees(value[1], 90)


def locates(operator: str, value: Any) -> bool:
    """Whether an operator accepts a value."""
    if not isinstance(value, (list, tuple)):
        return False
    if operator == "near":
        return len(value) == 3 and is_place(value[:2]) and type(value[2]) in (int, float) and value[2] >= 0
    if operator == "within_box":
        return len(value) == 4 and is_place(value[:2]) and is_place(value[2:]) and value[1] <= value[3]
    return len(value) >= 3 and all(map(is_place, value))


def boxes(value: Any) -> list[tuple[float, float, float, float]]:
    """Split a box that crosses the antimeridian (west greater than east) in two; any other box is returned alone."""
    west, south, east, north = map(float, value)
    return [(west, south, east, north)] if west <= east else [(west, south, 180.0, north), (-180.0, south, east, north)]


def ring(corners: Any) -> list[list[float]]:
    """The corners as a closed, counter-clockwise ring, as GeoJSON wants the outside of a polygon."""
    closed = [[float(longitude), float(latitude)] for longitude, latitude in corners]
    if closed[0] != closed[-1]:
        closed.append(closed[0])
    doubled = sum((x2 - x1) * (y2 + y1) for (x1, y1), (x2, y2) in pairwise(closed))
    return closed[::-1] if doubled > 0 else closed


def _is_degrees(value: Any, most: int) -> bool:
    return type(value) in (int, float) and -most <= value <= most
