"""Records whose entry in an index is looked at: it has a history of its own, by which it is judged."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import pytest

from storeproof.contract import Collection, Json, Key, Layout, Record
from storeproof.experiments.durability.readback import read
from storeproof.experiments.durability.record_writes import RecordWrites
from storeproof.experiments.trial_summary import findings_of
from storeproof.history import ABSENT, Observation, Recorder
from storeproof.records.beside.index_entries import (
    FIELD,
    MODEL,
    VALUES,
    entry_seen,
    indexes_of,
    make_indexed,
    record_seen,
    value_of,
)
from storeproof.records.beside.places import ENTRY, check_both, record_of
from storeproof.spec import Target
from storeproof.spec.query import Query, Where
from tests.experiments.durability import memory
from tests.shipped import SHIPPED

LAYOUT: Final = Layout("documents", SHIPPED.models[MODEL], indexes=1)
KEY: Final = ENTRY.record_key("p1:c0:1")
FIRST: Final = Observation("whole", "0:1")
OWN, OTHER = value_of("0:1"), value_of("0:2")


def test_the_field_is_the_one_that_is_indexed() -> None:
    """By a collection with one index."""
    assert LAYOUT.indexed == ((FIELD,),)


def test_writes_that_follow_each_other_have_different_values() -> None:
    """And each value comes as often as the others."""
    told = [value_of(f"4:{number}") for number in range(1, 10)]
    assert {*told} == {*VALUES}
    assert all(here != there for here, there in pairwise(told))


@pytest.mark.parametrize(
    ("record", "values", "seen"),
    [
        (FIRST, [OWN], FIRST),
        (FIRST, [], ABSENT),
        (FIRST, [OTHER], Observation("torn")),
        (FIRST, [OWN, OTHER], Observation("torn")),
        (FIRST, [OWN, OWN], Observation("torn")),  # it is found twice
        (ABSENT, [], ABSENT),
        (ABSENT, [OWN], Observation("torn")),
        (Observation("torn"), [OWN], Observation("torn")),
        (Observation("invented"), [], Observation("invented")),
    ],
)
def test_an_entry_is_whole_absent_or_torn(record: Observation, values: Sequence[str], seen: Observation) -> None:
    """By the value that the write of the record gave it; without a record there is none."""
    assert entry_seen(record, values) == seen


def test_a_record_is_seen_by_all_its_parts() -> None:
    """The field included, which tells no write."""
    made: Any = make_indexed(LAYOUT, KEY, "0:1")
    assert made[FIELD] == OWN
    assert record_seen(LAYOUT, KEY, made) == FIRST
    assert record_seen(LAYOUT, KEY, dict(reversed(made.items()))) == FIRST, "some stores have an order of their own"
    assert record_seen(LAYOUT, KEY, None) == ABSENT
    assert record_seen(LAYOUT, KEY, {**made, FIELD: OTHER}).sight == "torn"
    assert record_seen(LAYOUT, KEY, {**made, "orders": []}).sight == "torn"
    no_more: Any = {FIELD: OWN}
    assert record_seen(LAYOUT, KEY, no_more).sight == "invented"
    assert record_seen(LAYOUT, "p1:c0:2:indexed", made).sight == "invented"


def test_who_is_asked() -> None:
    """A variant that claims an index of the model, and to find records by it."""
    store, file = SHIPPED.store("sqlite")

    def claiming(**claims: bool) -> Target:
        capabilities = {name.replace("_", "."): claim for name, claim in claims.items()}
        claimed = store.claims.model_copy(update={"capabilities": capabilities})
        return Target(store.model_copy(update={"claims": claimed}), "wal-full", file, {})

    assert indexes_of(claiming(indexes=True), MODEL) == 1
    assert indexes_of(claiming(indexes=True), "single_key") == 0
    assert indexes_of(claiming(indexes_nested=True, filter=True), MODEL) == 1
    assert indexes_of(claiming(indexes_nested=True), MODEL) == 0
    assert indexes_of(claiming(filter=True), MODEL) == 0


class Indexed(memory.Records):
    """With an index of its own."""

    index: dict[Key, str]

    def put(self, key: Key, record: Record) -> None:
        super().put(key, record)
        assert isinstance(record, Mapping)
        self.enter(key, str(record[FIELD]))

    def delete(self, key: Key) -> bool:
        self.leave(key)
        return super().delete(key)

    def enter(self, key: Key, value: str) -> None:
        self.index[key] = value

    def leave(self, key: Key) -> None:
        self.index.pop(key, None)

    def find(self, query: Query) -> Sequence[tuple[Key, dict[str, Json]]]:
        condition: Any = query.filter
        return [(key, {}) for key, value in self.index.items() if value == condition.value]

    def count_where(self, where: Where) -> int:
        raise NotImplementedError


class Dangling(Indexed):
    """The entry of a deleted record stays."""

    def leave(self, key: Key) -> None:
        pass


class Stale(Dangling):
    """An entry stays as it was made first."""

    def enter(self, key: Key, value: str) -> None:
        self.index.setdefault(key, value)


class Empty(Indexed):
    """There are no entries."""

    def enter(self, key: Key, value: str) -> None:
        pass


def found(kind: type[memory.Records], layout: Layout = LAYOUT) -> tuple[int, set[tuple[str, bool]]]:
    """How many writes were of such records, and what an audit finds: the anomalies, and whether they are of an entry."""
    session = memory.Session(memory.Store())
    own: Any = type("Own", (kind,), {"index": {}})

    def collection(layout: Layout) -> Collection:
        opened: Collection = own(session, layout)
        return opened

    session.collection = collection  # type: ignore[method-assign, assignment]
    session.collection(layout).prepare()
    log, layouts = Recorder().client(), {MODEL: layout}
    writes = RecordWrites(layouts, log, 1, random.Random(4))
    writes.use(session)
    for _ in range(200):
        writes.request()
        writes.end("ok")
    history = log.operations()
    seen, _ = read(session, layouts, [each.place for each in history])
    check_both(seen)
    findings = {(str(each.anomaly), str(each.key).endswith("#entry")) for each in findings_of(history, seen)}
    return sum(record_of(each.key) is not None for each in history), findings


def test_they_are_among_the_writes_and_are_audited() -> None:
    """A store with an index is asked for entries; a wrong one is found and named, and one that is right is not blamed."""
    number, findings = found(Indexed)
    assert 20 < number < 60
    assert findings == set()
    assert found(Empty)[1] == {("lost", True), ("split", True)}
    assert found(Stale)[1] == {("torn", True), ("split", True)}
    assert found(Dangling)[1] == {("torn", True), ("split", True)}
    assert found(memory.Records) == (0, set())
    assert found(Indexed, replace(LAYOUT, indexes=0)) == (0, set())
