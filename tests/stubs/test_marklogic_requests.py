"""What the MarkLogic adapter writes and asks, request by request, on the stub: `test_marklogic` says what that shows."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("marklogic", reason="the client of MarkLogic is not installed: pip install marklogic-python-client")

from storeproof.adapters.marklogic.query import RangeIndex
from storeproof.contract import MISSING, Refused, Unsupported
from storeproof.spec.query import Aggregation, Browse, Query, Where
from tests.stubs.marklogic.server import Server
from tests.stubs.marklogic_asked import OPTIONS, collection


def test_a_write_depends_on_the_version_that_was_read(server: Server) -> None:
    """With version ids a conditional write goes by them; where the database keeps none it is Refused."""
    server.database.policy = "version-optional"
    made = collection(server, "single_key", **{"update-policy": "version-optional"})
    made.put("k", b"one")
    assert made.compare_and_set("k", b"one", b"two")
    assert not made.compare_and_set("k", b"one", b"three")
    assert made.get("k") == b"two"
    assert made.describe()["update-policy"] == "version-optional"
    server.database.policy = "merge-metadata"
    with pytest.raises(Refused, match="keeps no versions"):
        made.compare_and_set("k", b"two", b"three")


def test_without_versions_a_transaction_decides(server: Server) -> None:
    """Without version ids a conditional write is decided in a transaction."""
    made = collection(server, "single_key")
    assert made.put_if_absent("k", b"one")
    assert not made.put_if_absent("k", b"two")
    assert made.compare_and_set("k", b"one", b"three")
    assert not made.compare_and_set("k", b"one", b"four")
    assert not made.compare_and_set("none", b"one", b"four")
    assert made.get("k") == b"three"
    assert made.get("none") is None


def test_indexes_are_those_that_were_asked_for(server: Server) -> None:
    """Only the layout's indexes are made, beside those of others; a condition without one is Unsupported."""
    foreign = RangeIndex("/someone/else", "string").definition
    server.database.properties["range-path-index"] = [foreign]
    made = collection(server, "product", 2)
    assert made.describe() == {"indexes": "2", **OPTIONS}
    paths = [each["path-expression"] for each in server.database.properties["range-path-index"]]
    assert paths == ["/someone/else", "/sp_test/key", "/sp_test/record/price", "/sp_test/record/color"]
    made.put("p", {"name": "anvil", "price": 3, "color": "red"})
    assert made.count_where(Where.model_validate({"filter": ["price", "lte", 3]})) == 1
    with pytest.raises(Unsupported, match="PATHRIDXNOTFOUND"):
        made.count_where(Where.model_validate({"filter": ["name", "eq", "anvil"]}))
    made.clear()
    assert server.database.properties["range-path-index"] == [foreign], "what is not ours stays"


def test_every_field_of_the_model_has_an_index_where_the_variant_says_so(server: Server) -> None:
    """With the variant's option every field of the model has a range index."""
    made = collection(server, "product", **{"range-indexes": "model"})
    assert made.describe()["indexes"] == "8"
    made.put("p", {"name": "anvil", "tags": ["iron", "heavy"], "maker": {"country": "US"}})
    found = made.browse(
        Browse.model_validate({"filter": ["maker.country", "eq", "US"], "facets": {"tags": {"path": "tags", "each": True}}})
    )
    assert found == (1, [], {"tags": [("heavy", 1), ("iron", 1)]})


@pytest.mark.parametrize(
    "condition",
    [
        ["color", "eq", None],
        ["color", "eq", 7],
        ["price", "in", [1, "1"]],
        ["active", "eq", True],
        ["reviews.stars", "eq", 5],
        ["color", "regex", "r.d"],
        ["color", "exists", True],
        ["tags", "size", 2],
        ["tags", "gt", "a"],
        ["unheard-of", "eq", 1],
    ],
)
def test_what_no_range_index_answers_is_refused(server: Server, condition: list[Any]) -> None:
    """A condition that no range index answers is Unsupported."""
    made = collection(server, "product", **{"range-indexes": "model"})
    with pytest.raises(Unsupported):
        made.find(Query.model_validate({"filter": condition}))


ARTICLES: dict[str, Any] = {
    "a": {"language": "en", "title": "The Fox", "body": "It jumps; the fox is quick.", "categories": ["animals"]},
    "b": {"language": "en", "title": "Café", "body": "A fox-trot, by the brown fox: quick, brown.", "categories": ["dance"]},
}


def articles(server: Server, **options: str) -> Any:
    made = collection(server, "corpus", **options)
    made.put_many(ARTICLES)
    return made


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ([[], "words", "FOX"], ["a", "b"]),
        (["title", "words", "fox"], ["a"]),
        ([[], "words", "cafe brown"], ["b"]),
        ([[], "any_word", "cafe jumps"], ["a", "b"]),
        ([[], "phrase", "brown FOX quick"], ["b"]),
        ([[], "phrase", "the fox it"], []),
        ([[], "word_prefix", "jum"], ["a"]),
        ([[], "words", "fox-trot"], ["b"]),
        ({"not": [[], "words", "jumps"]}, ["b"]),
    ],
)
def test_words_need_no_index_of_ours(server: Server, condition: Any, found: list[str]) -> None:
    """Word queries use the universal index."""
    made = articles(server)
    assert sorted(key for key, _ in made.find(Query.model_validate({"filter": condition, "fields": []}))) == found


def test_the_best_comes_first(server: Server) -> None:
    """A ranked search answers by score, and takes no other sort."""
    made = articles(server)
    made.put("c", {"title": "fox", "body": "fox fox fox"})
    ranked = Query.model_validate({"filter": [[], "words", "fox"], "fields": [], "ranked": True})
    assert [key for key, _ in made.find(ranked)] == ["c", "a", "b"]
    with pytest.raises(Unsupported, match="cannot be sorted by a value and by score"):
        made.find(Query.model_validate({"filter": [[], "words", "fox"], "ranked": True, "sort": [["published", "asc"]]}))


@pytest.mark.parametrize(
    "condition",
    [
        [[], "fuzzy", "fix"],
        [[], "word_prefix", "f*"],
        ["language", "words", "en"],
        {"not": [[], "phrase", "brown fox"]},
        {"not": {"or": [[[], "words", "caf\u00e9"], ["language", "eq", "en"]]}},
    ],
)
def test_words_that_are_not_looked_for_exactly_are_refused(server: Server, condition: Any) -> None:
    """A search that the server would answer inexactly is Unsupported."""
    made = articles(server)
    with pytest.raises(Unsupported):
        made.find(Query.model_validate({"filter": condition}))


@pytest.mark.parametrize(
    "condition", [[[], "phrase", "brown fox"], [[], "word_prefix", "fo"], [[], "words", "caf\u00e9"], [[], "words", "fox-trot"]]
)
def test_what_is_an_estimate_is_no_total(server: Server, condition: Any) -> None:
    """An estimated total is not answered as a count."""
    made = articles(server, **{"range-indexes": "model"})
    where = {"filter": condition}
    assert len(made.find(Query.model_validate(where))) == (2 if condition[1] == "word_prefix" else 1)
    with pytest.raises(Unsupported, match="estimate"):
        made.count_where(Where.model_validate(where))
    with pytest.raises(Unsupported, match="estimate"):
        made.browse(Browse.model_validate({**where, "facets": {"categories": {"path": "categories", "each": True}}}))
    with pytest.raises(Unsupported, match="estimate"):
        made.aggregate(Aggregation.model_validate({**where, "compute": {"n": ["count"]}}))


def test_what_is_computed_of_an_index(server: Server) -> None:
    """Aggregates are computed from range indexes; without one they are Unsupported."""
    with pytest.raises(Unsupported, match="PATHRIDXNOTFOUND"):
        collection(server, "product").aggregate(Aggregation.model_validate({"compute": {"low": ["min", "added"]}}))
    made = collection(server, "product", **{"range-indexes": "model"})
    made.put_many({"a": {"name": "anvil", "price": 3, "stock": 1}, "b": {"name": "bell", "price": 4.5}, "c": {"name": None}})

    def asked(**what: Any) -> Any:
        return made.aggregate(Aggregation.model_validate(what))

    assert asked(compute={"n": ["count"]}) == [{"n": 3}]
    assert asked(compute={"n": ["count"]}, filter=["price", "gt", 9]) == [{"n": 0}]
    assert asked(compute={"total": ["sum", "price"], "mean": ["avg", "price"]}) == [{"total": 7.5, "mean": 3.75}]
    assert asked(compute={"low": ["min", "name"], "high": ["max", "name"]}) == [{"low": "anvil", "high": "bell"}]
    assert asked(compute={"low": ["min", "price"]}, filter=["price", "gt", 9]) == [{"low": None}]
    for what in (
        {"by": {"name": "name"}, "compute": {"n": ["count"]}},
        {"by": {"tag": {"path": "tags", "each": True}}, "compute": {"n": ["count"]}},
        {"compute": {"n": ["count"], "total": ["sum", "price"]}},
        {"compute": {"names": ["distinct", "name"]}},
        {"compute": {"half": ["percentile", "price", 0.5]}},
        {"compute": {"total": ["sum", "name"]}},
        {"compute": {"low": ["min", "tags"]}},
        {"compute": {"n": ["count"]}, "having": ["n", "gt", 1]},
    ):
        with pytest.raises(Unsupported):
            asked(**what)


def test_a_prefix_is_a_range(server: Server) -> None:
    """A prefix scan finds exactly the keys that begin with the prefix, also at the last code point."""
    made = collection(server, "single_key")
    keys = ["a", "a\U0010ffff", "a\U0010ffffz", "b", "a\ud7ff", "a\ue000"]
    made.put_many(dict.fromkeys(keys, b""))
    assert [key for key, _ in made.scan_prefix("a", 10)] == sorted(key for key in keys if key.startswith("a"))
    assert [key for key, _ in made.scan_prefix("a\ud7ff", 10)] == ["a\ud7ff"]
    assert [key for key, _ in made.scan_prefix("a\U0010ffff", 10)] == ["a\U0010ffff", "a\U0010ffffz"]
    assert len(made.scan_prefix("", 10)) == len(keys)


def test_a_patch_takes_any_name_and_any_place(server: Server) -> None:
    """Any name and position in a document can be set; without a parent that is Refused."""
    made = collection(server, "nested")
    made.put("n", {"name": {}, "a b": [1, {'say "x"': 2}], "empty": []})
    assert made.set_path("n", ("a b", 1, 'say "x"'), [3])
    assert made.set_path("n", ("empty",), {"empty": 1})
    assert made.set_path("n", ("name", "$.new/[0]"), None)
    assert made.unset_path("n", ("name", "none"))
    assert made.get("n") == {"name": {"$.new/[0]": None}, "a b": [1, {'say "x"': [3]}], "empty": {"empty": 1}}
    assert made.get_path("n", ("a b", 1)) == {'say "x"': [3]}
    assert made.get_path("n", ("a b",)) == [1, {'say "x"': [3]}]
    with pytest.raises(Refused, match="cardinality"):
        made.set_path("n", ("none", "x"), 1)
    assert not made.set_path("m", ("x",), 1)


def test_several_paths_are_one_request(server: Server) -> None:
    """A patch of several places, of which all are set or none; an extraction of several, unless items of a list would be mistaken."""
    made = collection(server, "nested")
    made.put("n", {"name": "one", "profile": {"email": None}, "orders": [{"number": 1}, {"number": 2}]})
    assert made.set_paths("n", {("profile", "phone"): 7, ("orders", 1, "number"): 3, ("name",): {"first": "two"}})
    wanted = {"name": {"first": "two"}, "profile": {"email": None, "phone": 7}, "orders": [{"number": 1}, {"number": 3}]}
    assert made.get("n") == wanted
    with pytest.raises(Refused, match="cardinality"):
        made.set_paths("n", {("name",): "three", ("none", "x"): 1})
    assert made.get("n") == wanted
    assert not made.set_paths("m", {("x",): 1, ("y",): 2})
    assert made.get_paths("n", [("orders", 1, "number"), ("x",), ("profile", "email"), ("name",)]) == [3, MISSING, None, {"first": "two"}]
    assert made.get_paths("m", [("x",), ("y", "z")]) == [MISSING, MISSING]
    for paths in ([("orders", 0, "number"), ("orders", 1, "number")], [("orders",), ("orders", 1)]):
        with pytest.raises(Unsupported, match="positions"):
            made.get_paths("n", paths)
