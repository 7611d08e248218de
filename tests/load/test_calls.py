"""What YCSB's workloads ask of a store's client, and the replies that are no answer to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from threading import Event
from time import monotonic_ns
from typing import Any

import pytest

from storeproof.contract import Key, Layout, Record
from storeproof.load.driver.client import ClientResult, run_client
from storeproof.load.engine import Plan
from storeproof.records.arguments import arguments_of
from storeproof.records.keys import form_of, greatest
from storeproof.records.self_verifying import recipe
from storeproof.spec import Mix
from tests.load.memory import Memory
from tests.shipped import SHIPPED

MODEL = SHIPPED.models["usertable"]
KNOWN = 60
SCAN = Mix(operation="scan", keys="uniform", length=20)
UPDATE = Mix(operation="set_field", keys="uniform", path=("*",))


class Table(Memory):
    """Keeps what was asked for; offers fields and scans."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[Any, ...]] = []
        self.halt = Event()
        self.enough = 0
        """After that many scans the client is told to halt; 0: it ends with its time."""
        for number in range(KNOWN):
            key = recipe(MODEL).key(number)
            self.records[key] = recipe(MODEL).make(key, f"0:{number}")

    def get(self, key: Key) -> Record | None:
        self.asked.append(("get", key))
        return super().get(key)

    def get_field(self, key: Key, field: str) -> bytes | None:
        raise NotImplementedError

    def set_field(self, key: Key, field: str, value: bytes) -> None:
        self.asked.append(("set_field", key, field, value))
        record: Any = self.records.setdefault(key, {})
        record[field] = value

    def delete_field(self, key: Key, field: str) -> bool:
        raise NotImplementedError

    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        self.asked.append(("scan", start, count, backwards))
        if len(self.asked) == self.enough:
            self.halt.set()
        keys = sorted(key for key in self.records if str(key) >= str(start))
        return [(key, self.records[key]) for key in keys[:count]]


def _run(store: Table, *mix: Mix) -> ClientResult:
    form = form_of(MODEL)
    plan = Plan(
        Layout("t", MODEL), mix, clients=1, seconds=60 if store.enough else 0.05, seed=1, known=KNOWN, greatest=greatest(form, KNOWN)
    )
    result = ClientResult.of(plan, 0)
    run_client(store, plan, result, monotonic_ns(), store.halt)
    return result


def test_a_scan_is_one_operation_whatever_it_found() -> None:
    """Of 1 to 20 records from a key that is there; to the end of the collection it may have fewer, also where new ones come behind it."""
    store = Table()
    store.enough = 1000
    result = _run(store, SCAN, Mix(operation="put", keys="new"))
    scans, puts = result.counts
    assert (scans.malformed, scans.misses, scans.errors, result.samples) == (0, 0, 0, [])
    assert scans.ok == len(scans.latencies) == len(store.asked) == result.requests - puts.ok > 100
    assert {count for _, _, count, _ in store.asked} == set(range(1, 21))
    assert {start for _, start, _, _ in store.asked} == {recipe(MODEL).key(number) for number in range(KNOWN)}


class Backwards(Table):
    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        first, *rest = super().scan(start, count, backwards)
        return [first, *rest[::-1]]


class Short(Table):
    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        return super().scan(start, min(count, 5), backwards)


class Long(Table):
    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        return super().scan(start, count + 1, backwards)


class Elsewhere(Table):
    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        return super().scan(f"{start}0", count, backwards)


class Empty(Table):
    def scan(self, start: Key | None, count: int, backwards: bool) -> Sequence[tuple[Key, Record]]:
        return []


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Backwards, "not in the order of their keys"),
        (Short, "it has 5 of "),
        (Long, "at most"),
        (Elsewhere, "was asked for and is there"),
    ],
)
def test_a_scan_that_is_no_answer_is_malformed(kind: type[Table], said: str) -> None:
    """Wrong order, too few or too many records, or another begin: each is counted, and named in a sample."""
    counts = (result := _run(kind(), SCAN)).counts[0]
    assert counts.malformed > 0
    assert said in result.samples[0]


def test_a_scan_that_finds_nothing_is_a_miss() -> None:
    """It begins at a record that is there."""
    counts = (result := _run(Empty(), SCAN)).counts[0]
    assert (counts.ok, counts.misses) == (0, result.requests)


def test_an_update_sets_any_one_field() -> None:
    """Each field about as often as any other, with the value that belongs to the record."""
    store = Table()
    result = _run(store, UPDATE)
    fields = Counter(field for _, _, field, _ in store.asked)
    assert result.ok == fields.total() > 200
    assert fields.keys() == {f"field{number}" for number in range(10)}
    assert min(fields.values()) > 0.4 * fields.total() / 10
    for _, key, field, value in store.asked:
        assert value == recipe(MODEL).part(key, value.split(b"|")[0].decode(), (field,))


def test_several_fields_are_read_and_set_together() -> None:
    """In the order of the mix, each with the value of the same write; a reply without one of them is a miss."""

    class Several(Table):
        def get_fields(self, key: Key, fields: Sequence[str]) -> list[bytes | None]:
            record: Any = self.records.get(key, {})
            self.asked.append(("get_fields", *fields))
            return [record.get(field) for field in fields]

        def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
            self.asked.append(("set_fields", key, values))

    paths = (("field7",), ("field0",), ("field4",))
    store = Several()
    result = _run(store, Mix(operation="set_fields", keys="uniform", paths=paths))
    assert result.ok == len(store.asked) > 0
    for _, key, values in store.asked:
        assert list(values) == ["field7", "field0", "field4"]
        (write_id,) = {value.split(b"|")[0].decode() for value in values.values()}
        assert values == {field: recipe(MODEL).part(key, write_id, (field,)) for field in values}
    store = Several()
    for number in range(0, KNOWN, 2):
        del store.records[recipe(MODEL).key(number)]["field4"]  # type: ignore[union-attr,arg-type]
    counts = _run(store, Mix(operation="get_fields", keys="uniform", paths=paths)).counts[0]
    assert set(store.asked) == {("get_fields", "field7", "field0", "field4")}
    assert (counts.ok > 0, counts.misses > 0, counts.malformed) == (True, True, 0)


def test_a_record_is_read_before_it_is_written() -> None:
    """Both are one operation; where there is none, none is written."""
    store = Table()
    gone = [recipe(MODEL).key(number) for number in range(0, KNOWN, 2)]
    for key in gone:
        del store.records[key]
    counts = (result := _run(store, UPDATE.model_copy(update={"reads_first": True}))).counts[0]
    assert counts.ok + counts.misses == result.requests == sum(1 for what, *_ in store.asked if what == "get")
    assert counts.misses == sum(1 for what, key, *_ in store.asked if what == "get" and key in gone) > 0
    assert len(counts.latencies) == counts.ok
    assert not store.records.keys() & gone
    writes = [place for place, (what, *_) in enumerate(store.asked) if what == "set_field"]
    assert len(writes) == counts.ok
    assert all(store.asked[place - 1] == ("get", store.asked[place][1]) for place in writes)


def test_a_read_that_breaks_the_contract_is_malformed() -> None:
    """The read of an operation that reads first is checked too."""

    class Wrong(Table):
        def get(self, key: Key) -> Record | None:
            return "what"  # type: ignore[return-value]

    counts = _run(Wrong(), UPDATE.model_copy(update={"reads_first": True})).counts[0]
    assert (counts.ok, counts.malformed > 0) == (0, True)


def test_lengths_are_drawn_evenly() -> None:
    """Scans ask for 1 to `length` records, each length about as often."""
    arguments = arguments_of("scan", SCAN, recipe(MODEL), lambda: 7, str, Random(1).random)
    lengths = Counter(arguments(place)[0][1] for place in range(4000))
    assert set(lengths) == set(range(1, 21))
    assert min(lengths.values()) > 130
