"""Places in the words of MySQL and MariaDB: points out of GeoJSON, ST_Distance_Sphere, ST_Contains.

MySQL's polygons are on a spheroid, with shortest ways for edges; MariaDB's are in the plane. A spatial index takes no records without a
place, so that there is none: what is asked of a record is worked out for it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from storeproof.adapters.mysql.json import Dialect, Sql, joined, of_type, sql
from storeproof.spec.place import EARTH_RADIUS, boxes, ring


def located(dialect: Dialect, operator: str, value: Sql, coordinates: tuple[Sql, Sql], wanted: Any) -> Sql:
    """The condition, NULL where there is no point. `value` is the JSON of the point, `coordinates` that of its longitude and latitude."""
    if operator == "near":
        return sql("{} <= {}", distance(value, wanted[:2]), float(wanted[2]))
    if operator == "within_polygon":
        return sql("ST_Contains({}, {})", _geometry("Polygon", [ring(wanted)]), _point(value))
    longitude, latitude = map(dialect.number, coordinates)
    parts = (
        sql("{} BETWEEN {} AND {} AND {} BETWEEN {} AND {}", longitude, west, east, latitude, south, north)
        for west, south, east, north in boxes(wanted)
    )
    return sql("({})", joined(" OR ", parts))


def distance(value: Sql, origin: Sequence[float]) -> Sql:
    """Metres on the great circle; NULL where there is no point."""
    longitude, latitude = map(float, origin)
    # The antimeridian has one name there.
    there = _geometry("Point", [180.0 if longitude == -180 else longitude, latitude])
    return sql("ST_Distance_Sphere({}, {}, {})", _point(value), there, EARTH_RADIUS)


def _point(value: Sql) -> Sql:
    return sql("CASE WHEN {} THEN ST_GeomFromGeoJSON({}) END", of_type(value, "object"), value)


def _geometry(kind: str, coordinates: list[Any]) -> Sql:
    return sql("ST_GeomFromGeoJSON({})", json.dumps({"type": kind, "coordinates": coordinates}))
