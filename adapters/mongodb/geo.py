"""Places in MongoDB's words: `$geoWithin` and `$geoNear`, and the 2dsphere index that answers them.

* Polygons and circles are on a sphere, and edges the shortest ways. A box is `$box`, whose edges are meridians and parallels: it is one
  of the plane, which the index does not know.
* `$geoNear` is the first stage, sorts by itself, and has nothing of what has no place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from storeproof.contract import Layout, Unsupported
from storeproof.spec.place import EARTH_RADIUS, boxes, ring
from storeproof.spec.query import SortKey

DISTANCE = "distance"
"""Where `$geoNear` puts how far it is."""


def indexes(layout: Layout) -> list[list[tuple[str, str]]]:
    """The keys of the spatial indexes, one for each place of the model."""
    return [[("d." + ".".join(path), "2dsphere")] for path in layout.model.places]


def located(operator: str, value: Any) -> list[dict[str, Any]]:
    """The tests of which one must hold."""
    if operator == "near":
        longitude, latitude, metres = value
        return [{"$geoWithin": {"$centerSphere": [[longitude, latitude], metres / EARTH_RADIUS]}}]
    if operator == "within_box":
        return [{"$geoWithin": {"$box": [[west, south], [east, north]]}} for west, south, east, north in boxes(value)]
    return [{"$geoWithin": {"$geometry": {"type": "Polygon", "coordinates": [ring(value)]}}}]


def nearest(sort: Sequence[SortKey], layout: Layout, condition: dict[str, Any]) -> dict[str, Any]:
    """The stage that finds and sorts by the first key."""
    first, *others = sort
    if first.origin is None or any(key.origin is not None for key in others):
        raise Unsupported("$geoNear must be the first stage of a pipeline, so only one distance can be a sort key, and only the first")
    if first.path not in layout.model.places:
        raise Unsupported(f"$geoNear needs a geospatial index, and there is none on {list(first.path)}")
    if first.nulls is not None:
        raise Unsupported("$geoNear omits documents without a position, so they cannot be sorted first or last")
    near = {"type": "Point", "coordinates": list(first.origin)}
    key = "d." + ".".join(map(str, first.path))
    return {"$geoNear": {"near": near, "key": key, "distanceField": DISTANCE, "spherical": True, "query": condition}}
