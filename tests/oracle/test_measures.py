"""Distances, polygons and the order of words, on what can be worked out by hand."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from storeproof.oracle.place import LOCATING, distance, point
from storeproof.oracle.text import weight
from storeproof.spec.place import EARTH_RADIUS

QUARTER = EARTH_RADIUS * math.pi / 2


@pytest.mark.parametrize(
    ("one", "other", "metres"),
    [
        ((0, 0), (0, 90), QUARTER),
        ((0, 0), (90, 0), QUARTER),
        ((0, 0), (180, 0), 2 * QUARTER),
        ((0, 90), (123, -90), 2 * QUARTER),
        ((10, 80), (-170, 80), QUARTER * 20 / 90),  # over the pole
        ((179, 0), (-179, 0), QUARTER * 2 / 90),  # over the antimeridian
        ((77, 33), (77, 33), 0),
    ],
)
def test_a_distance_is_on_the_great_circle(one: tuple[float, float], other: tuple[float, float], metres: float) -> None:
    """Distances are measured on the great circle."""
    assert distance(one, other) == pytest.approx(metres, abs=1e-3)
    assert distance(other, one) == pytest.approx(metres, abs=1e-3)


def test_what_is_no_point_is_nowhere() -> None:
    """A value that is no point is at no distance and in no area."""
    for value in (None, "Point", [0, 0], {}, {"type": "Polygon", "coordinates": []}):
        assert point(value) is None
        assert not LOCATING["near"](value, [0, 0, 3e7])
        assert not LOCATING["within_box"](value, [-180, -90, 180, 90])


def test_a_polygon_has_what_its_corners_go_round() -> None:
    """A polygon contains the points within its corners."""
    bent = [[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]]
    inside = {"type": "Point", "coordinates": [3.5, 2.0]}
    outside = {"type": "Point", "coordinates": [2.0, 3.0]}
    for corners in (bent, bent[::-1], [*bent, bent[0]]):
        assert LOCATING["within_polygon"](inside, corners)
        assert not LOCATING["within_polygon"](outside, corners)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ["a", "A", "á", "Á", "ab", "b"]),
        ("de", ["Apfel", "Äpfel", "Arzt", "Öl", "über", "Uhr"]),
        ("sv", ["apa", "zon", "ål", "Ål", "äpple", "öga"]),
        ("es", ["nube", "nuez", "ñu", "ocho"]),
    ],
)
def test_words_are_in_the_order_of_a_language(language: str, words: list[str]) -> None:
    """Collation sorts words as the language does."""
    weights = [weight(word, language, ignores_case=False) for word in words]
    assert all(one < other for one, other in pairwise(weights))


def test_case_is_ignored_where_it_is_asked() -> None:
    """A case-insensitive collation does not tell upper from lower case."""
    assert weight("Äpfel", "de", ignores_case=True) == weight("äPFEL", "de", ignores_case=True)
    assert weight("Äpfel", "de", ignores_case=False) != weight("äpfel", "de", ignores_case=False)
