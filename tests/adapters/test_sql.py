"""The statements that the SQL stores share, and what is made of their rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from storeproof.adapters.mysql import values as mysql
from storeproof.adapters.postgresql import records as postgresql
from storeproof.adapters.sql import answers
from storeproof.adapters.sql.answers import restored
from storeproof.adapters.sqlite import session as sqlite
from storeproof.contract import Layout, Refused, Unsupported
from storeproof.spec.query import Query
from tests.shipped import SHIPPED

SINGLE, HASH = (Layout("t", SHIPPED.models[name]) for name in ("single_key", "hash10"))


class Recorder:
    """A connection that answers no rows, and keeps the statements."""

    engine = "InnoDB"

    def __init__(self) -> None:
        self.statements: list[str] = []

    def read(self, statement: str, /, *values: Any) -> Sequence[Sequence[Any]]:
        self.statements.append(statement)
        return []

    def change(self, statement: str, /, *values: Any) -> int:
        self.statements.append(statement)
        return 0


def opened(store: str, kind: str, layout: Layout, link: Any) -> Any:
    """A collection of a store on the connection."""
    if store == "sqlite":
        return getattr(sqlite, kind)(link, layout)
    return getattr({"mysql": mysql, "postgresql": postgresql}[store], kind)(link, layout, {})


@pytest.mark.parametrize(
    ("store", "statements"),
    [
        (
            "sqlite",
            [
                'INSERT INTO "t" (k, v) VALUES (?, ?) ON CONFLICT(k) DO UPDATE SET v = excluded.v',
                'SELECT k, v FROM "t" WHERE k = ?',
                'DELETE FROM "t" WHERE k = ?',
            ],
        ),
        (
            "mysql",
            [
                "INSERT INTO `t` (k, `v`) VALUES (%s, %s) ON DUPLICATE KEY UPDATE `v` = VALUES(`v`)",
                "SELECT `v` FROM `t` WHERE k = %s",
                "DELETE FROM `t` WHERE k = %s",
            ],
        ),
        (
            "postgresql",
            [
                'INSERT INTO "t" (k, "v") VALUES (%s, %s::bytea) ON CONFLICT (k) DO UPDATE SET "v" = EXCLUDED."v"',
                'SELECT "v" FROM "t" WHERE k = %s',
                'DELETE FROM "t" WHERE k = %s',
            ],
        ),
    ],
)
def test_key_value_statements(store: str, statements: list[str]) -> None:
    """Put, get and delete are one statement each, in the words of the store: published figures were measured with these."""
    link = Recorder()
    values = opened(store, "Values", SINGLE, link)
    values.put("k", b"v")
    assert values.get("k") is None
    assert not values.delete("k")
    assert link.statements == statements


@pytest.mark.parametrize("store", ["sqlite", "mysql", "postgresql"])
def test_field_without_a_column_is_refused(store: str) -> None:
    """A hash has the fields of its model: a request for another one is Refused, and not sent."""
    link = Recorder()
    hashes = opened(store, "Hashes", HASH, link)
    for request in (lambda: hashes.get_field("k", 'f" = 1'), lambda: hashes.put("k", {"field0": b"", "other": b""})):
        with pytest.raises(Refused, match="no column"):
            request()
    assert link.statements == []


@pytest.mark.parametrize("store", ["mysql", "postgresql"])
def test_key_that_is_no_text_is_refused(store: str) -> None:
    """A key with a lone surrogate has no UTF-8 bytes: Refused, and not sent."""
    link = Recorder()
    with pytest.raises(Refused, match="Unicode scalar values"):
        opened(store, "Values", SINGLE, link).get("\ud800")
    assert link.statements == []


def read(text: str, _: Any) -> Any:
    """JSON without decimals."""
    return json.loads(text)


def test_parts_of_a_record_stay_under_their_paths() -> None:
    """A projected part stands where it was; NULL, which is a part that is not there, leaves nothing; JSON's null stays."""
    query = Query(fields=(("a",), ("o", "p"), ("o", "q"), ("n",)))
    assert answers.records(query, [("k", "1", None, '"x"', "null")], str, read) == [("k", {"a": 1, "o": {"q": "x"}, "n": None})]


def test_highlighted_text_is_behind_the_record() -> None:
    """The highlighted text is a column of its own, and is left out where there is none."""
    query = Query(ranked=True, highlight=("title",))
    rows = [("a", '{"title": "red fox"}', "red <b>fox</b>"), ("b", "{}", None)]
    assert answers.records(query, rows, str, read) == [("a", {"title": "red fox", "highlight": "red <b>fox</b>"}), ("b", {})]


def test_joined_record_is_none_where_no_key_was_found() -> None:
    """Behind a record's columns come the other one's key and parts; without a key there is no other one."""
    rows = [("a", "{}", "z", "2"), ("b", "{}", "y", None), ("c", "{}", None, None)]
    assert answers.pairs(Query(), [("n",)], rows, str, read) == [("a", {}, {"n": 2}), ("b", {}, {}), ("c", {}, None)]


@pytest.mark.parametrize("path", [(), ("tags", 0), (0,)])
def test_position_in_a_list_is_no_part_of_an_answer(path: tuple[str | int, ...]) -> None:
    """Parts are fields of objects; a position has no place in an answer and is Unsupported."""
    with pytest.raises(Unsupported, match="a path of field names"):
        answers.fields_of([("a",), path])


def test_decimals_are_restored_at_their_paths_only() -> None:
    """A scalar is exact at a decimals path, and converted as any other elsewhere, also in lists."""
    found = restored({"a": "1.10", "b": ["1.10", {"a": "2"}]}, [("a",)], lambda value, exact: Decimal(value) if exact else value)
    assert found == {"a": Decimal("1.10"), "b": ["1.10", {"a": "2"}]}
