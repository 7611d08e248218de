"""SQL++ by its text: no server was asked whether it is understood, so what is checked is what the translation rests on."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("couchbase")

from couchbase import exceptions

from storeproof.adapters.couchbase.models import path_of
from storeproof.adapters.couchbase.query import Statement, projected, quoted
from storeproof.adapters.couchbase.records import failure_of
from storeproof.contract import Refused, Unknown, Unsupported
from storeproof.spec.query import Aggregation, Browse, Query, Where


def condition(written: Any) -> tuple[str, dict[str, Any]]:
    statement = Statement("c")
    return statement.where(Where.model_validate({"filter": written})).removeprefix(" WHERE "), statement.parameters


@pytest.mark.parametrize(
    ("written", "text", "values"),
    [
        (["price", "eq", 5], "d.`price` = $p0", [5]),
        (["maker.country", "eq", None], "d.`maker`.`country` IS NULL", []),
        (["price", "gt", 5], "(IS_NUMBER(d.`price`) AND d.`price` > $p0)", [5]),
        (["name", "lte", "m"], "(IS_STRING(d.`name`) AND d.`name` <= $p0)", ["m"]),
        (["color", "ne", "red"], "NOT IFMISSINGORNULL(d.`color` = $p0, FALSE)", ["red"]),
        ({"not": ["price", "gt", 5]}, "NOT IFMISSINGORNULL((IS_NUMBER(d.`price`) AND d.`price` > $p0), FALSE)", [5]),
        (["color", "in", ["red", None]], "(d.`color` = $p0 OR d.`color` IS NULL)", ["red"]),
        (["color", "in", []], "(FALSE)", []),
        (["color", "exists", False], "d.`color` IS MISSING", []),
        (["color", "type", "list"], "TYPE(d.`color`) = $p0", ["array"]),
        (["name", "prefix", "50%_\\"], "d.`name` LIKE $p0", ["50\\%\\_\\\\%"]),
        (["name", "icontains", "Ab"], "CONTAINS(LOWER(d.`name`), LOWER($p0))", ["Ab"]),
        (["tags", "any", ["eq", "x"]], "ANY v1 IN d.`tags` SATISFIES v1 = $p0 END", ["x"]),
        (["tags", "all", []], "(IS_ARRAY(d.`tags`))", []),
        (["tags", "size", 2], "(IS_ARRAY(d.`tags`) AND ARRAY_LENGTH(d.`tags`) = $p0)", [2]),
        (
            ["reviews", "element", {"and": [["by", "eq", "ann"], ["stars", "gte", 4]]}],
            "ANY v1 IN d.`reviews` SATISFIES (IS_OBJECT(v1) AND (v1.`by` = $p0 AND (IS_NUMBER(v1.`stars`) AND v1.`stars` >= $p1))) END",
            ["ann", 4],
        ),
        ({"or": []}, "(FALSE)", []),
        ({"and": []}, "(TRUE)", []),
        ([["reviews", 0, "by"], "eq", "x"], "d.`reviews`[0].`by` = $p0", ["x"]),
    ],
)
def test_a_filter(written: Any, text: str, values: list[Any]) -> None:
    """Each operator becomes SQL++ with its values as parameters."""
    found, parameters = condition(written)
    assert found == text
    assert list(parameters.values()) == values, "no value is in the text"


def test_names_cannot_leave_their_quotes() -> None:
    """A back quote in a name is escaped."""
    found, _ = condition([["a` = 1 OR `b"], "eq", 1])
    assert found == "d.`a`` = 1 OR ``b` = $p0"
    assert quoted("sp_1") == "`sp_1`"


def test_text_search_is_refused() -> None:
    """Text search is Unsupported in SQL++."""
    with pytest.raises(Unsupported):
        condition(["title", "words", "red kite"])


def test_sorting_takes_missing_for_null() -> None:
    """MISSING sorts as NULL."""
    query = Query.model_validate({"sort": [["price", "desc", "last"], [[], "asc"]], "skip": 2, "limit": 3, "fields": []})
    assert Statement("c").find(query) == (
        "SELECT META(d).id AS k, {} AS r FROM c AS d ORDER BY IFMISSING(d.`price`, NULL) DESC NULLS LAST, META(d).id ASC LIMIT 3 OFFSET 2"
    )


def test_parts_stay_where_they_were() -> None:
    """Projected parts keep their paths in the answer."""
    assert projected("d", [("name",)]) == '{"name": d.`name`}'
    inner = '{"country": d.`maker`.`country`}'
    assert projected("d", [("maker", "country")]) == f'{{"maker": CASE WHEN OBJECT_LENGTH({inner}) > 0 THEN {inner} ELSE MISSING END}}'
    assert projected("d", [("maker",), ("maker", "country")]) == '{"maker": d.`maker`}', "the whole has the part in it"


def test_groups_are_made_inside_and_asked_outside() -> None:
    """`having` and `sort` are applied to the grouped subquery."""
    written = {"by": {"color": "color"}, "compute": {"n": ["count"], "total": ["sum", "price"]}, "having": ["n", "gte", 2], "limit": 3}
    statement = Statement("c")
    assert statement.aggregate(Aggregation.model_validate({**written, "sort": [["total", "desc"]]})) == (
        "SELECT RAW g FROM (SELECT IFMISSING(d.`color`, NULL) AS `color`, COUNT(*) AS `n`, SUM(d.`price`) AS `total` FROM c AS d "
        "GROUP BY IFMISSING(d.`color`, NULL)) AS g WHERE (IS_NUMBER(g.`n`) AND g.`n` >= $p0) "
        "ORDER BY IFMISSING(g.`total`, NULL) DESC LIMIT 3"
    )
    with pytest.raises(Unsupported):
        Statement("c").aggregate(Aggregation.model_validate({"compute": {"p": ["percentile", "price", 0.9]}}))


def test_facets_and_page_are_of_what_matches() -> None:
    """Total, page and facets are computed from the same filter."""
    text = Statement("c").browse(
        Browse.model_validate({"facets": {"colors": {"path": "color", "limit": 2}}, "sort": [[[], "asc"]], "limit": 1})
    )
    assert text == (
        "WITH matching AS (SELECT META(d).id AS k, d FROM c AS d) SELECT (SELECT RAW COUNT(*) FROM matching AS m)[0] AS total, "
        "(SELECT RAW m.k FROM matching AS m ORDER BY m.k ASC LIMIT 1) AS `keys`, "
        '{"colors": (SELECT m.d.`color` AS v, COUNT(*) AS n FROM matching AS m WHERE m.d.`color` IS NOT NULL '
        "GROUP BY m.d.`color` ORDER BY n DESC, v LIMIT 2)} AS facets"
    )


def test_paths_of_parts() -> None:
    """Sub-document paths quote names; a path that names no part is Refused."""
    assert path_of(("a.b", 2, "c`d", 'e"f')) == '`a.b`[2].`c``d`.`e\\"f`'
    for wrong in ((), ("a", -1)):
        with pytest.raises(Refused):
            path_of(wrong)


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        (exceptions.DocumentExistsException(), Refused),
        (exceptions.DurabilityImpossibleException(), Refused),
        (exceptions.AmbiguousTimeoutException(), Unknown),
        (exceptions.UnAmbiguousTimeoutException(), Unknown),
        (exceptions.DurabilitySyncWriteAmbiguousException(), Unknown),
        (exceptions.RequestCanceledException(), Unknown),
        (exceptions.CouchbaseException(), Unknown),
        (exceptions.UnsupportedOperation(), Unsupported),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"), Refused),
    ],
)
def test_errors_are_sorted(reason: Exception, kind: type[Exception]) -> None:
    """Each error of the client becomes the error of the contract."""
    assert type(failure_of(reason)) is kind
