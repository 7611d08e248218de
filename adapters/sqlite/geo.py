"""Places in SQLite's words: the haversine formula in its own functions of mathematics, and the rule of rays for polygons.

Debian's SQLite has an R*Tree, which is a table of its own with boxes of 32-bit floats, and no Geopoly: what is asked of a few records
is worked out for each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from storeproof.spec.place import EARTH_RADIUS, boxes, ring

Bind = Callable[[Any], str]


def located(operator: str, wanted: Any, longitude: str, latitude: str, bind: Bind) -> str:
    """The condition on a point, false or NULL where there is none."""
    if operator == "near":
        return f"{distance(longitude, latitude, wanted[:2], bind)} <= {bind(float(wanted[2]))}"
    if operator == "within_box":
        parts = (
            f"{longitude} BETWEEN {bind(west)} AND {bind(east)} AND {latitude} BETWEEN {bind(south)} AND {bind(north)}"
            for west, south, east, north in boxes(wanted)
        )
        return " OR ".join(parts)
    edges = bind(json.dumps([[*one, *other] for one, other in pairwise(ring(wanted))]))
    x1, y1, x2, y2 = (f"json_extract(edge.value, '$[{place}]')" for place in range(4))
    crosses = f"({y1} > {latitude}) <> ({y2} > {latitude}) AND {longitude} < ({x2} - {x1}) * ({latitude} - {y1}) / ({y2} - {y1}) + {x1}"
    return f"{longitude} IS NOT NULL AND (SELECT count(*) FROM json_each({edges}) AS edge WHERE {crosses}) % 2 = 1"


def distance(longitude: str, latitude: str, origin: Sequence[float], bind: Bind) -> str:
    """Metres on the great circle; NULL where there is no point."""
    x, y = (f"radians({bind(float(part))})" for part in origin)
    half = (
        f"pow(sin((radians({latitude}) - {y}) / 2), 2)"
        f" + cos({y}) * cos(radians({latitude})) * pow(sin((radians({longitude}) - {x}) / 2), 2)"
    )
    return f"{bind(2 * EARTH_RADIUS)} * asin(sqrt(min(1.0, {half})))"
