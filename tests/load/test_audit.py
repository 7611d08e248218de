"""The audit finds what a fast and wrong store did to the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Event
from time import monotonic_ns
from typing import Any

import pytest

from storeproof.contract import Key, Layout
from storeproof.load.driver.client import ClientResult, run_client
from storeproof.load.engine import OperationCounts, Plan, RunResult
from storeproof.load.quality.audit import audit
from storeproof.records.keys import key_of
from storeproof.records.self_verifying import recipe
from storeproof.spec import Mix
from storeproof.stats.latency import new_histogram
from tests.load.memory import Memory
from tests.shipped import SHIPPED

MODELS = SHIPPED.models
MODEL = MODELS["hash10"]
KNOWN = 50


def _worked_on(mix: Mix) -> tuple[Memory, Plan, RunResult]:
    """A store with loaded records, after one round of one client."""
    store = Memory()
    for number in range(KNOWN):
        key = key_of(MODEL, number)
        store.put(key, recipe(MODEL).make(key, f"0:{number}"))
    plan = Plan(Layout("t", MODEL), (mix,), clients=1, seconds=0.02, seed=1, known=KNOWN)
    result = ClientResult.of(plan, 0)
    run_client(store, plan, result, monotonic_ns(), Event())
    counts = result.counts[0]
    operation = OperationCounts(mix.operation, counts.ok, counts.misses, counts.errors, counts.malformed, new_histogram())
    return store, plan, RunResult({mix.operation: operation}, 1, 1, 1, 1, 0, 1, 1, 1, (result.position,), tuple(result.indeterminate), ())


PUT = Mix(operation="put", keys="new", distinct=0.9)


def test_a_true_store_raises_no_alarm() -> None:
    """Loaded and new records are there, whole, and as many as were acknowledged."""
    store, plan, result = _worked_on(PUT)
    found = audit(store, plan, [result], seed=1)
    assert found.ok, found.problems
    assert found.checked > KNOWN


def _lose_one_in_twenty(store: Memory) -> None:
    for key in list(store.records)[::20]:
        del store.records[key]


def _lose_the_last(store: Memory) -> None:
    store.records.popitem()


def _tear(store: Memory) -> None:
    for key in list(store.records)[::10]:
        record: Any = store.records[key]
        store.records[key] = {**record, "field3": recipe(MODEL).part(key, "1:999", ("field3",))}


def _swap(store: Memory) -> None:
    keys = list(store.records)
    store.records = dict(zip(keys, [store.records[key] for key in reversed(keys)], strict=True))


def _invent(store: Memory) -> None:
    for number in range(1_000_000, 1_000_010):
        store.put(key_of(MODEL, number), {})


def _stranger(store: Memory) -> None:
    for key in store.records:
        store.records[key] = recipe(MODEL).make(key, "77:1")


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (_lose_one_in_twenty, "acknowledged"),
        (_lose_the_last, "were acknowledged"),
        (_tear, "torn between writes"),
        (_swap, "what no client wrote"),
        (_invent, "were sent"),
        (_stranger, "was written by client 77"),
    ],
)
def test_damage_is_found(damage: Callable[[Memory], None], told: str) -> None:
    """Lost, torn, mixed up, invented: each is named."""
    store, plan, result = _worked_on(PUT)
    damage(store)
    found = audit(store, plan, [result], seed=1)
    assert not found.ok
    assert any(told in problem for problem in found.problems), found.problems
    assert len(found.problems) <= 5


def _updated(model: str, mix: Mix) -> tuple[Memory, Plan, RunResult]:
    """Records of which some parts are of later writes."""
    store, made = Memory(), recipe(MODELS[model])
    for number in range(KNOWN):
        key = made.key(number)
        record: Any = made.make(key, f"0:{number}")
        for place in range(number % 11):
            record[f"field{place}"] = made.part(key, f"1:{number * 20 + place}", (f"field{place}",))
        store.put(key, record)
    plan = Plan(Layout("t", MODELS[model]), (mix,), clients=1, seconds=1, seed=1, known=KNOWN)
    return store, plan, RunResult({}, 1, 1, 1, 1, 0, 1, 1, 1, (0,), (), ())


ANY = Mix(operation="set_field", keys="uniform", path=("*",))


def test_any_field_may_be_of_another_write_where_any_is_updated() -> None:
    """All of them too; and each of them whole."""
    store, plan, result = _updated("usertable", ANY)
    found = audit(store, plan, [result], seed=1)
    assert found.ok, found.problems
    key, record = next(iter(store.records.items()))
    assert isinstance(record, dict)
    store.records[key] = {**record, "field3": record["field3"][:50] + b"?" * 50}  # type: ignore[index,operator]
    assert "is torn" in audit(store, plan, [result], seed=1).problems[0]
    one = replace(plan, mix=(ANY.model_copy(update={"path": ("field0",)}),))
    assert "is torn" in audit(_updated("usertable", ANY)[0], one, [result], seed=1).problems[0]


def test_fields_that_one_request_sets_are_of_one_write() -> None:
    """The others may be of another; where a second request sets one of them, they may be of several."""
    fields = (("field1",), ("field4",), ("field7",))
    several = Mix(operation="set_fields", keys="uniform", paths=fields)
    store, plan, result = _worked_on(PUT)
    plan = replace(plan, layout=Layout("t", MODELS["usertable"]), mix=(several,))
    made = recipe(MODELS["usertable"])
    key = made.key(0)
    store.records.clear()

    def updated(*names: str) -> list[str]:
        record: Any = made.make(key, "0:1")
        store.put(key, {**record, **{name: made.part(key, "1:2", (name,)) for name in names}})
        return list(audit(store, replace(plan, known=1), [replace(result, positions=(0,))], seed=1).problems)

    assert updated() == updated("field1", "field4", "field7") == []
    assert "is torn between writes 0:1, 1:2" in updated("field1", "field4")[0]
    assert "is torn between writes 0:1, 1:2" in updated("field1", "field4", "field7", "field8")[0]
    plan = replace(plan, mix=(several, Mix(operation="set_field", keys="uniform", path=("field7",))))
    assert updated("field1", "field4") == updated("field7") == []
    assert "is torn between writes 0:1, 1:2" in updated("field1")[0]


@pytest.mark.parametrize("path", [("*",), ("field0",)])
def test_a_record_that_shrank_is_found_whatever_is_updated(path: tuple[str, ...]) -> None:
    """After an update it still has ten fields."""
    store, plan, result = _updated("usertable", ANY.model_copy(update={"path": path}))
    for key, record in store.records.items():
        store.records[key] = {name: value for name, value in record.items() if name != "field9"}  # type: ignore[union-attr]
    assert "is torn" in audit(store, plan, [result], seed=1).problems[0]


def test_a_write_whose_reply_was_lost_may_be_there_or_not() -> None:
    """Doubtful keys are counted both ways, and not looked at."""
    store, plan, result = _worked_on(Mix(operation="put", keys="new"))
    last = KNOWN + result.positions[0] - 1
    doubted = replace(result, indeterminate=(last,))
    assert audit(store, plan, [doubted], seed=1).ok
    del store.records[key_of(MODEL, last)]
    assert audit(store, plan, [doubted], seed=1).ok
    assert not audit(store, plan, [result], seed=1).ok


def test_misses_under_load_are_a_problem() -> None:
    """A store that forgets for a while and then remembers is found out."""
    store, plan, result = _worked_on(Mix(operation="get", keys="uniform"))
    assert audit(store, plan, [result], seed=1).ok
    missed = replace(result, operations={"get": OperationCounts("get", 9, 1, 0, 0, new_histogram())})
    assert "1 records were asked for" in str(audit(store, plan, [missed], seed=1).problems[0])


def test_nothing_checked_is_not_verified() -> None:
    """An empty audit is no evidence."""
    plan = Plan(Layout("t", MODEL), (PUT,), clients=1, seconds=1, seed=1, known=0)

    class NoCount:
        def get(self, key: Key) -> Any: ...
        def put(self, key: Key, record: Any) -> None: ...
        def delete(self, key: Key) -> Any: ...
        def exists(self, key: Key) -> Any: ...

    assert not audit(NoCount(), plan, [], seed=1).ok  # type: ignore[arg-type]


TURNOVER = (
    Mix(operation="put", keys="new", weight=3),
    Mix(operation="delete", keys="oldest", weight=2),
    Mix(operation="get", keys="uniform"),
)


def _turned_over() -> tuple[Memory, Plan, RunResult]:
    """A store after a round in which new records were added and taken away, and loaded ones read."""
    store = Memory()
    for number in range(KNOWN):
        store.put(key_of(MODEL, number), recipe(MODEL).make(key_of(MODEL, number), f"0:{number}"))
    plan = Plan(Layout("t", MODEL), TURNOVER, clients=1, seconds=0.03, seed=1, known=KNOWN)
    result = ClientResult.of(plan, 0)
    run_client(store, plan, result, monotonic_ns(), Event())
    operations = {
        mix.operation: OperationCounts(mix.operation, counts.ok, counts.misses, counts.errors, counts.malformed, new_histogram())
        for mix, counts in zip(TURNOVER, result.counts, strict=True)
    }
    assert result.removed > 20
    assert not result.errors
    return store, plan, RunResult(operations, 1, 1, 1, 1, 0, 1, 1, 1, (result.position,), (), (), (result.removed,))


def test_records_that_were_removed_are_gone_and_the_rest_is_there() -> None:
    """A mix of inserts and removals on a sound store passes the audit."""
    store, plan, result = _turned_over()
    assert store.count() == KNOWN + result.positions[0] - result.removed[0]
    found = audit(store, plan, [result], seed=1)
    assert found.ok, found.problems


def test_a_removed_record_that_comes_back_is_found() -> None:
    """The last one removed is always looked at."""
    store, plan, result = _turned_over()
    key = key_of(MODEL, KNOWN + result.removed[0] - 1)
    store.put(key, recipe(MODEL).make(key, "1:1"))
    problems = audit(store, plan, [result], seed=1).problems
    assert f"{key} was removed and is there" in problems
    assert any("were counted" in problem for problem in problems)


def test_a_removal_whose_reply_was_lost_may_have_happened_or_not() -> None:
    """The audit accepts the record there or gone."""
    store, plan, result = _turned_over()
    last = KNOWN + result.removed[0] - 1
    doubted = replace(result, indeterminate=(last,))
    assert audit(store, plan, [doubted], seed=1).ok
    store.put(key_of(MODEL, last), recipe(MODEL).make(key_of(MODEL, last), "1:1"))
    assert audit(store, plan, [doubted], seed=1).ok


def test_a_removal_of_what_was_lost_before_is_a_miss() -> None:
    """It was acknowledged, and is not there to be removed."""
    store = Memory()
    store.delete = lambda key: False  # type: ignore[method-assign]
    plan = Plan(Layout("t", MODEL), TURNOVER[:2], clients=1, seconds=0.02, seed=1, known=0)
    result = ClientResult.of(plan, 0)
    run_client(store, plan, result, monotonic_ns(), Event())
    assert result.counts[1].misses > 0
    assert result.counts[1].ok == 0
