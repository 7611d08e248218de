"""Geospatial operators: distances on a sphere, boxes of degrees, polygons with straight edges in the plane of degrees."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from storeproof.spec.place import EARTH_RADIUS, boxes, ring


def point(value: Any) -> tuple[float, float] | None:
    """Longitude and latitude of a GeoJSON point, in degrees; None for any other value."""
    if not isinstance(value, Mapping) or value.get("type") != "Point":
        return None
    longitude, latitude = value["coordinates"]
    return float(longitude), float(latitude)


def distance(one: Sequence[float], other: Sequence[float]) -> float:
    """Great-circle distance in metres between two (longitude, latitude), by the haversine formula."""
    (x1, y1), (x2, y2) = (tuple(map(math.radians, each)) for each in (one, other))
    half = math.sin((y2 - y1) / 2) ** 2 + math.cos(y1) * math.cos(y2) * math.sin((x2 - x1) / 2) ** 2
    return 2 * EARTH_RADIUS * math.asin(math.sqrt(min(1.0, half)))


def _in_polygon(there: tuple[float, float], corners: Any) -> bool:
    """Ray casting: whether a ray to the east crosses an odd number of edges."""
    x, y = there
    crossed = [(x2 - x1) * (y - y1) / (y2 - y1) + x1 for (x1, y1), (x2, y2) in pairwise(ring(corners)) if (y1 > y) != (y2 > y)]
    return sum(x < edge for edge in crossed) % 2 == 1


def _on_point(test: Callable[[tuple[float, float], Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda found, wanted: (there := point(found)) is not None and test(there, wanted)


LOCATING: Mapping[str, Callable[[Any, Any], bool]] = {
    "within_box": _on_point(
        lambda there, box: any(west <= there[0] <= east and south <= there[1] <= north for west, south, east, north in boxes(box))
    ),
    "within_polygon": _on_point(_in_polygon),
    "near": _on_point(lambda there, circle: distance(there, circle[:2]) <= circle[2]),
}
"""For each geospatial operator: (stored value, operand) -> whether it matches."""
