"""One client counts what happened, and nothing as success that was none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Event
from time import monotonic, monotonic_ns, sleep
from typing import Any

import pytest

from storeproof.contract import Key, Layout, Record, Refused, Unknown, Unsupported
from storeproof.errors import UsageError
from storeproof.load.arrivals import Schedule
from storeproof.load.driver.client import LOST_CAUSE, ClientCounts, ClientResult, run_client
from storeproof.load.engine import Plan
from storeproof.records.keys import key_of
from storeproof.records.self_verifying import identify, recipe
from storeproof.spec import Mix
from storeproof.spec.query import Query, Where
from tests.load.memory import Memory
from tests.shipped import SHIPPED

MODELS = SHIPPED.models


def _plan(*mix: Mix, model: str = "single_key", seconds: float = 0.05, **more: Any) -> Plan:
    return Plan(Layout("t", MODELS[model]), mix, clients=1, seconds=seconds, seed=1, known=more.pop("known", 0), **more)


def _run(collection: Any, plan: Plan, halt: Event | None = None) -> ClientResult:
    result = ClientResult.of(plan, 0)
    run_client(collection, plan, result, monotonic_ns(), halt or Event())
    return result


def test_puts_are_counted_and_whole() -> None:
    """As many records as were acknowledged, each under its own key and write id."""
    store, plan = Memory(), _plan(Mix(operation="put", keys="new"), model="hash10")
    result = _run(store, plan)
    assert result.ok == result.requests == len(store.records) == result.position > 10
    assert len(result.counts[0].latencies) == result.ok
    assert all(identify(plan.layout.model, key, record).kind == "whole" for key, record in store.records.items())
    assert result.busy + result.pause <= result.elapsed


def test_a_rate_begins_with_the_first_reply() -> None:
    """All clients ask for the first time at once: that request waits for other clients than the later ones do."""

    class Waking(Memory):
        def put(self, key: Key, record: Record) -> None:
            sleep(0.005 if self.records else 0.1)
            super().put(key, record)

    result = _run(Waking(), _plan(Mix(operation="put", keys="new"), seconds=0.3))
    assert result.settled >= 0.1e9
    assert result.settled_ok == 1
    assert result.rate(result.elapsed) == pytest.approx((result.ok - 1) * 1e9 / (result.elapsed - result.settled))


def test_a_client_with_one_reply_has_the_time_of_the_longest() -> None:
    """It began with the others, and would have had a second one."""
    result = ClientResult(0, [ClientCounts(ok=1)], 1, elapsed=10_000_000, settled=10_000_000, settled_ok=1)
    assert result.rate(500_000_000) == 2
    assert ClientResult(0, [], 0).rate(0) == 0


@pytest.mark.parametrize("keys", ["uniform", "zipf", "zipfian", "latest", "sequential", "hotspot", "exponential"])
def test_with_one_loaded_record_all_requests_are_for_its_key(keys: Any) -> None:
    """By each of the distributions."""
    store = Memory()
    result = _run(store, _plan(Mix(operation="put", keys=keys), known=1))
    assert result.ok == result.requests > 10
    assert set(store.records) == {"key:000000000000"}


def test_a_batch_counts_its_records() -> None:
    """Ten records a request, one latency."""
    store = Memory()
    result = _run(store, _plan(Mix(operation="put", keys="new", batch=10)))
    assert result.ok == 10 * result.requests == len(store.records)
    assert len(result.counts[0].latencies) == result.requests


def test_a_record_that_is_not_found_is_a_miss() -> None:
    """And no success, and no latency."""
    result = _run(Memory(), _plan(Mix(operation="get", keys="uniform"), known=10))
    assert (result.ok, result.errors) == (0, 0)
    assert result.counts[0].misses == result.requests > 0
    assert len(result.counts[0].latencies) == 0


def test_a_batch_with_a_missing_record() -> None:
    """Found ones count, missing ones are misses."""
    store, model = Memory(), MODELS["single_key"]
    store.put(key_of(model, 0), recipe(model).make(key_of(model, 0), "0:0"))
    result = _run(store, _plan(Mix(operation="get", keys="uniform", batch=20), known=2))
    counts = result.counts[0]
    assert counts.ok + counts.misses == 20 * result.requests
    assert 0.4 < counts.ok / (20 * result.requests) < 0.6


class Failing(Memory):
    """Fails every third put as it is told."""

    def __init__(self, failure: Exception) -> None:
        super().__init__()
        self.failure = failure
        self.puts = 0

    def put(self, key: Key, record: Record) -> None:
        self.puts += 1
        if self.puts % 3 == 0:
            raise self.failure
        super().put(key, record)


@pytest.mark.parametrize(
    ("failure", "errors", "malformed", "broken"),
    [(Refused("full"), True, False, False), (Unknown("late"), True, False, True), (KeyError("leak"), False, True, True)],
)
def test_failures_are_told_apart(failure: Exception, errors: bool, malformed: bool, broken: bool) -> None:
    """Refused, lost and leaked: none is a success, and their keys are indeterminate."""
    store = Failing(failure)
    result = _run(store, _plan(Mix(operation="put", keys="new")))
    counts = result.counts[0]
    assert counts.ok == len(store.records)
    assert result.errors == result.requests // 3 == len(result.indeterminate)
    assert (counts.errors > 0, counts.malformed > 0, result.broken) == (errors, malformed, broken)
    assert str(failure) in result.samples[0]
    assert len(result.samples) == 3


class WrongType(Memory):
    """Answers text for bytes."""

    def get(self, key: Key) -> Any:
        return "text"


def test_a_reply_of_the_wrong_shape_is_malformed() -> None:
    """A WRONGTYPE answer that counts as success makes a benchmark fly."""
    result = _run(WrongType(), _plan(Mix(operation="get", keys="uniform"), known=5))
    assert result.ok == 0
    assert result.counts[0].malformed == result.requests == LOST_CAUSE


class Slow(Memory):
    """Takes 30 ms a put."""

    def put(self, key: Key, record: Record) -> None:
        sleep(0.03)
        super().put(key, record)


def test_the_last_request_is_finished_and_its_time_counted() -> None:
    """In 50 ms begin two requests of 30 ms; the client's time is that of both."""
    result = _run(Slow(), _plan(Mix(operation="put", keys="new")))
    assert result.ok == 2
    assert result.elapsed >= 60_000_000


def test_halt_ends_before_the_deadline() -> None:
    """Within one request."""
    halt = Event()
    halt.set()
    begun = monotonic()
    assert _run(Memory(), _plan(Mix(operation="put", keys="new"), seconds=30), halt).requests == 0
    assert monotonic() - begun < 15


def test_in_an_open_loop_a_stall_is_felt_by_all_that_was_due_meanwhile() -> None:
    """One request takes 100 ms: its own time says so once, and the times from when requests were due say it for each that waited."""

    class Stalling(Memory):
        calls = 0

        def put(self, key: Key, record: Record) -> None:
            Stalling.calls += 1
            if Stalling.calls == 20:
                sleep(0.1)
            super().put(key, record)

    plan = _plan(Mix(operation="put", keys="new"), seconds=0.3, rate=400.0)
    begun, store, result = monotonic_ns(), Stalling(), ClientResult.of(plan, 0)
    schedule = Schedule(plan.rate, "1", begun, plan.seconds)
    run_client(store, plan, result, begun, Event(), schedule)
    counts = result.counts[0]
    assert result.ok == len(store.records) == len(counts.responses) == len(counts.latencies) == len(result.schedule_lags)
    assert sum(each > 50_000_000 for each in counts.responses) > 15
    assert sum(each > 50_000_000 for each in counts.latencies) <= 5, "also where the machine itself halts for a moment"
    assert result.elapsed >= 0.3e9


def test_a_mix_is_drawn_by_weight() -> None:
    """Nine reads to one write."""
    store, model = Memory(), MODELS["single_key"]
    for number in range(10):
        store.put(key_of(model, number), recipe(model).make(key_of(model, number), f"0:{number}"))
    plan = _plan(Mix(operation="get", keys="uniform", weight=9), Mix(operation="put", keys="uniform"), known=10)
    reads, writes = _run(store, plan).counts
    assert 7 < reads.ok / writes.ok < 11
    assert reads.misses == 0


class OnlyWhole:
    """Has no family beyond whole records."""

    def get(self, key: Key) -> Record | None: ...
    def put(self, key: Key, record: Record) -> None: ...
    def delete(self, key: Key) -> bool: ...  # type: ignore[empty-body]
    def exists(self, key: Key) -> bool: ...  # type: ignore[empty-body]


def test_what_the_adapter_does_not_offer_is_unsupported() -> None:
    """Before the first request."""
    with pytest.raises(Unsupported, match="put_many on single_key"):
        _run(OnlyWhole(), _plan(Mix(operation="put", keys="new", batch=2)))


def test_an_operation_that_the_engine_cannot_run() -> None:
    """Says which it can."""
    with pytest.raises(UsageError, match="does not run `delete_field`; it runs aggregate, browse, count_where, delete, exists, "):
        _run(Memory(), _plan(Mix(operation="delete_field", keys="uniform"), known=1))


class Paths(Memory):
    """Sets paths by walking."""

    def get_path(self, key: Key, path: Sequence[str]) -> Any: ...

    def set_path(self, key: Key, path: Sequence[str], value: Any) -> bool:
        part: Any = self.records[key]
        for step in path[:-1]:
            part = part[step]
        part[path[-1]] = value
        return True

    def unset_path(self, key: Key, path: Sequence[str]) -> bool: ...  # type: ignore[empty-body]


def test_path_updates_write_what_their_write_id_makes() -> None:
    """All other parts stay with who loaded the data."""
    store, model = Paths(), MODELS["nested"]
    city = ("profile", "address", "city")
    key = key_of(model, 0)
    store.put(key, recipe(model).make(key, "0:0"))
    result = _run(store, _plan(Mix(operation="set_path", keys="uniform", path=city), model="nested", known=1))
    seen = identify(model, key, store.records[key])
    assert result.ok > 0
    assert seen.parts[city] == f"1:{result.requests - 1}"
    assert {write_id for path, write_id in seen.parts.items() if path != city} == {"0:0"}


def test_mapping_is_what_a_batch_is() -> None:
    """The contract's own type."""
    seen: list[Any] = []

    class Watching(Memory):
        def put_many(self, records: Mapping[Key, Record]) -> None:
            seen.append(records)

    _run(Watching(), _plan(Mix(operation="put", keys="new", batch=3)))
    assert isinstance(seen[0], Mapping)
    assert len(seen[0]) == 3


class Searching(Memory):
    """Answers each request with what it is told to."""

    def __init__(self, found: list[Any]) -> None:
        super().__init__()
        self.found = found
        self.asked: list[Any] = []

    def find(self, query: Query) -> list[Any]:
        self.asked.append(query)
        return self.found

    def count_where(self, where: Where) -> int:
        raise Unsupported("only `find` is asked")


ASK = Mix(name="search", operation="find", request={"filter": [[], "words", "$word"]})
ASKED = tuple((Query.model_validate({"filter": [[], "words", word]}),) for word in ("one", "two", "three"))


def test_requests_are_drawn_and_each_counts_once() -> None:
    """Whatever the number of records in the answer."""
    store = Searching([("k", {"a": 1}), ("l", {"a": 2})])
    result = _run(store, _plan(ASK, model="corpus", known=1, requests=(ASKED,)))
    assert result.ok == result.requests == len(store.asked) > 20
    assert len(result.counts[0].latencies) == result.ok
    assert {query.filter.value for query in store.asked} == {"one", "two", "three"}


def test_an_empty_answer_is_a_miss() -> None:
    """What was asked for is there: the store does not find it."""
    result = _run(Searching([]), _plan(ASK, model="corpus", known=1, requests=(ASKED,)))
    assert (result.ok, result.counts[0].misses) == (0, result.requests)
    assert len(result.counts[0].latencies) == 0
