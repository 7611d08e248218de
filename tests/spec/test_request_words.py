"""What requests write beside paths and operators: places, exact decimals, words of a sort key."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from storeproof.spec.base import RuleError
from storeproof.spec.place import boxes, ring
from storeproof.spec.query import Aggregation, Condition, Query, check_request, with_decimals


def test_a_decimal_is_read_at_any_depth() -> None:
    """Also as the value of a filter, with its trailing zeros."""
    written = {"a": [{"decimal": "0.10"}], "b": {"decimal": "-1", "unit": "EUR"}, "c": "0.10"}
    found = with_decimals(written)
    assert found == {"a": [Decimal("0.10")], "b": {"decimal": "-1", "unit": "EUR"}, "c": "0.10"}
    assert found["a"][0].as_tuple() == Decimal("0.10").as_tuple()
    asked = Query.model_validate({"filter": ["amount", "gt", {"decimal": "0.1"}]})
    assert isinstance(asked.filter, Condition)
    assert asked.filter.value == Decimal("0.1")


@pytest.mark.parametrize("written", [0.1, 1, "one", "nan", "Infinity", None])
def test_an_invalid_decimal_is_refused(written: Any) -> None:
    """Numbers, words, NaN and infinity."""
    with pytest.raises(RuleError, match=r"behind `decimal`; allowed: a number in quotes"):
        with_decimals({"decimal": written})


@pytest.mark.parametrize(
    "condition",
    [
        ["location", "near", [0, 0]],
        ["location", "near", [181, 0, 5]],
        ["location", "near", [0, -91, 5]],
        ["location", "near", [0, 0, -5]],
        ["location", "near", [True, 0, 5]],
        ["location", "within_box", [0, 10, 5, 0]],
        ["location", "within_box", [0, 0, 5]],
        ["location", "within_polygon", [[0, 0], [1, 1]]],
        ["location", "within_polygon", "POLYGON"],
    ],
)
def test_an_invalid_position_is_refused(condition: list[Any]) -> None:
    """Coordinates out of range, of the wrong number, or not a shape."""
    with pytest.raises(RuleError, match=f"behind `{condition[1]}`; allowed"):
        check_request("count_where", ({"filter": condition},))


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (["a", "asc", {"from": [0, 95]}], "longitude, latitude"),
        (["a", "asc", {"from": [0, 9], "collation": "de"}], "a distance is not text"),
        (["a", "asc", {"case": "ignored"}], "goes with a `collation`"),
        (["a", "asc", {"collation": 'de"'}], "pattern"),
        (["a", "asc", {"colation": "de"}], "Extra inputs"),
    ],
)
def test_invalid_options_of_a_sort_key_are_refused(key: list[Any], words: str) -> None:
    """Each with its reason."""
    with pytest.raises(RuleError, match=words):
        check_request("find", ({"sort": [key]},))


@pytest.mark.parametrize("operation", ["aggregate", "browse"])
def test_only_find_sorts_by_distance_or_collation(operation: str) -> None:
    """Groups and facets refuse such sort keys."""
    for words in ({"from": [0, 0]}, {"collation": "de"}):
        with pytest.raises(RuleError, match="only `find` sorts"):
            check_request(operation, ({"sort": [["a", "asc", words]]},))


@pytest.mark.parametrize("measure", [["sum", "a", None, "smallest"], ["percentile", "a", 0.5, "nearest"], ["percentile", "a", 1.0]])
def test_a_percentile_has_a_share_and_an_optional_kind(measure: list[Any]) -> None:
    """No other function has either."""
    with pytest.raises(ValueError, match=r"takes no kind|smallest|less than 1"):
        Aggregation.model_validate({"compute": {"m": measure}})


def test_a_box_across_the_antimeridian_is_split_in_two() -> None:
    """A box that does not cross it stays one."""
    assert boxes([170, -5, -170, 5]) == [(170, -5, 180, 5), (-180, -5, -170, 5)]
    assert boxes([-170, -5, 170, 5]) == [(-170, -5, 170, 5)]


def test_a_ring_is_closed_and_counter_clockwise() -> None:
    """For corners in either direction, closed or not."""
    wanted = [[0, 0], [1, 0], [1, 1], [0, 0]]
    assert ring([[0, 0], [1, 0], [1, 1]]) == wanted
    assert ring([[0, 0], [1, 0], [1, 1], [0, 0]]) == wanted
    assert ring([[0, 0], [1, 1], [1, 0]]) == wanted
