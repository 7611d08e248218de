"""Places in PostgreSQL's words: its own points, boxes and polygons, which are those of a plane, and the haversine formula for distances.

A spatial index (GiST) is on the points. It answers boxes and polygons, and of a circle the band of latitude that the circle is in.
PostGIS and earthdistance know spheres, and are not the adapter's to install.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from storeproof.adapters.postgresql.jsonb import literal, place
from storeproof.contract import Layout, Path
from storeproof.spec.place import EARTH_RADIUS, boxes, ring

Add = Callable[[Any], str]
"""What a statement has in place of a value."""


def indexes(layout: Layout) -> list[str]:
    """The statements that make the spatial indexes, one for each place of the model."""
    return [
        f'CREATE INDEX IF NOT EXISTS "{layout.name}_geo{number}" ON "{layout.name}" USING gist (({_point("doc", path, literal)}))'
        for number, path in enumerate(layout.model.places)
    ]


def located(root: str, path: Path, operator: str, wanted: Any, add: Add) -> str:
    """The condition, NULL where there is no point."""
    there = _point(root, path, add)
    if operator == "within_box":
        return " OR ".join(f"{there} <@ {_box(box, add)}" for box in boxes(wanted))
    if operator == "within_polygon":
        corners = ",".join(f"({longitude!r},{latitude!r})" for longitude, latitude in ring(wanted)[:-1])
        return f"{there} <@ {add(f'({corners})')}::polygon"
    longitude, latitude, metres = map(float, wanted)
    degrees = math.degrees(metres / EARTH_RADIUS) + 1e-6
    band = _box((-180.0, latitude - degrees, 180.0, latitude + degrees), add)
    return f"{there} <@ {band} AND {distance(root, path, (longitude, latitude), add)} <= {add(metres)}::float8"


def distance(root: str, path: Path, origin: Sequence[float], add: Add) -> str:
    """Metres on the great circle; NULL where there is no point."""
    longitude, latitude = (f"radians({part})" for part in _coordinates(root, path, add))
    x, y = (f"radians({add(float(part))}::float8)" for part in origin)
    half = f"sin(({latitude} - {y}) / 2) ^ 2 + cos({y}) * cos({latitude}) * sin(({longitude} - {x}) / 2) ^ 2"
    return f"({add(2 * EARTH_RADIUS)}::float8 * asin(sqrt(CASE WHEN {longitude} IS NOT NULL THEN LEAST(1, {half}) END)))"


def _coordinates(root: str, path: Path, written: Add) -> tuple[str, str]:
    longitude, latitude = (f"{place(root, (*path, 'coordinates', part), written).number}::float8" for part in (0, 1))
    return longitude, latitude


def _point(root: str, path: Path, written: Add) -> str:
    longitude, latitude = _coordinates(root, path, written)
    return f"point({longitude}, {latitude})"


def _box(box: tuple[float, float, float, float], add: Add) -> str:
    west, south, east, north = (f"{add(part)}::float8" for part in box)
    return f"box(point({west}, {south}), point({east}, {north}))"
