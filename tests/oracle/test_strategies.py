"""Generated histories: only what was asked for, fit for the contract, hostile enough; and the oracle agrees with a model store."""

from __future__ import annotations

import contextlib
import inspect
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from storeproof.contract import OPERATIONS, Layout, call
from storeproof.contract.notation import shown
from storeproof.contract.operations import wrong_reply
from storeproof.oracle import REFUSAL, UNDEFINED, State, same, step
from storeproof.oracle.requests import Asked, requests
from storeproof.oracle.step import _STEPS
from storeproof.oracle.strategies import histories, is_plain, keys, may_refuse, records, tours
from storeproof.oracle.thresholds import Call
from tests.shipped import SHIPPED

MODELS = {name: model for name, model in SHIPPED.models.items() if model.record.kind != "places"}
"""Sets of places are never read back, so that no history of them is judged."""
FAMILIES = {
    "value": {"put_if_absent", "compare_and_set", "scan", "get_and_set", "append", "scan_prefix"},
    "hash": {"get_field", "set_field", "delete_field", "get_fields", "set_fields", "increment_field"},
    "document": {
        *("get_path", "set_path", "unset_path", "get_paths", "set_paths", "compare_and_set", "increment_path"),
        *("push_item", "insert_item", "pull_item", "add_to_set", "item_count"),
    },
    "row": {"scan"},
    "counter": {"increment"},
    "list": {"push_back", "push_front", "pop_front", "pop_back", "list_range", "list_length"},
    "set": {"add_member", "remove_member", "has_member", "member_count"},
    "ranking": {"set_score", "add_score", "remove_score", "score_of", "rank_of", "top", "ranking_size"},
}
ALWAYS = {"get", "put", "delete", "exists", "count", "get_many", "put_many", "insert_many"}

quick = settings(max_examples=25, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))


def operations_of(name: str) -> frozenset[str]:
    return frozenset(ALWAYS | FAMILIES[MODELS[name].record.kind])


class ModelStore:
    """A store that is right by definition: it does what the oracle says, and answers like an adapter."""

    def __init__(self) -> None:
        self.state: State = {}

    def prepare(self) -> None: ...

    def clear(self) -> None:
        self.state = {}

    def describe(self) -> dict[str, str]:
        return {"indexes": "0"}

    def _do(self, operation: str, *args: Any) -> Any:
        answer, self.state = step(self.state, operation, args)
        return answer


for operation in _STEPS:
    setattr(ModelStore, operation, (lambda name: lambda self, *args: self._do(name, *args))(operation))


@pytest.mark.parametrize("name", sorted(MODELS))
@pytest.mark.slow
def test_the_model_store_never_fails(name: str) -> None:
    """The guard finds no fault with the oracle's own answers, and the answers are those of a second, plain implementation."""
    layout = Layout("c", MODELS[name])

    @quick
    @given(histories(layout.model, operations_of(name), 25))
    def play(history: list[tuple[str, tuple[Any, ...]]]) -> None:
        store, plain = ModelStore(), dict[Any, Any]()
        for operation, args in history:
            wanted, after = step(store.state, operation, args)
            if wanted in (UNDEFINED, REFUSAL):
                assert same(dict(after), dict(store.state))
                continue
            assert same(call(store, layout, operation, *args), wanted), shown(operation, args)
            # What whole-record operations must do, said a second time without the oracle.
            if operation == "put":
                plain[args[0]] = args[1]
            elif operation == "put_many":
                plain.update(args[0])
            elif operation == "insert_many":
                assert wanted is not any(key in plain for key in args[0])
                plain.update(args[0] if wanted else {})
            elif operation == "delete":
                assert wanted is (plain.pop(args[0], None) is not None)
            elif operation == "count":
                assert wanted == len(plain)
            elif operation == "get":
                assert same(wanted, plain.get(args[0]))
            else:
                plain = dict(store.state)

    play()


@pytest.mark.parametrize("name", sorted(MODELS))
@pytest.mark.slow
def test_a_history_has_the_operations_asked_for_and_no_other(name: str) -> None:
    """Random histories consist of the chosen operations only."""
    model = MODELS[name]

    @quick
    @given(st.data())
    def look(data: st.DataObject) -> None:
        some = data.draw(st.sets(st.sampled_from(sorted(operations_of(name))), min_size=1).map(frozenset))
        history = data.draw(histories(model, some, 10))
        assert 1 <= len(history) <= 10
        for operation, args in history:
            assert operation in some
            inspect.signature(getattr(OPERATIONS[operation].family, operation)).bind(None, *args)

    look()


def test_the_operations_of_a_history_share_few_keys() -> None:
    """All are on up to four keys, which are drawn again for each history; those of a tour are on one."""
    seen = set[Any]()

    @quick
    @given(histories(MODELS["single_key"], frozenset({"get", "put"}), 25), tours(MODELS["single_key"], frozenset({"get", "delete"})))
    def look(history: list[Call], tour: list[Call]) -> None:
        keys_of_history = {args[0] for _, args in history}
        seen.update(keys_of_history)
        assert len(keys_of_history) <= 4
        assert [name for name, _ in tour] == ["put", "delete", "get"]
        assert len({args[0] for _, args in tour}) == 1

    look()
    assert len(seen) > 8


def test_half_of_the_requests_for_records_are_sorted() -> None:
    """A sort is one of two forms, however many forms a filter has."""
    counts = Counter[bool]()

    @quick
    @given(st.lists(requests(frozenset({"find"})), min_size=20, max_size=20))
    def look(asked: list[Asked]) -> None:
        counts.update("sort" in request.model_fields_set for _, request in asked)

    look()
    assert 0.35 < counts[True] / counts.total() < 0.65


class AllFound(Exception):
    """There is no need for further examples."""


def finds(wanted: Collection[str], strategy: st.SearchStrategy[Any], what: Callable[[Any], Iterable[str]], most: int) -> set[str]:
    """What examples of the strategy show, until all that is wanted was seen, or `most` were drawn."""
    seen = set[str]()

    @settings(quick, max_examples=most, phases=[Phase.generate], report_multiple_bugs=False)
    @given(strategy)
    def look(example: Any) -> None:
        seen.update(what(example))
        if seen >= set(wanted):
            raise AllFound

    with contextlib.suppress(AllFound):
        look()
    return seen


@pytest.mark.parametrize("name", sorted(MODELS))
@pytest.mark.slow
def test_every_operation_asked_for_does_come(name: str) -> None:
    """Each chosen operation occurs in random histories."""
    wanted = operations_of(name)
    assert finds(wanted, histories(MODELS[name], wanted, 25), lambda history: (operation for operation, _ in history), 100) == wanted


@pytest.mark.parametrize("name", sorted(MODELS))
@pytest.mark.slow
def test_every_record_is_one_that_the_contract_knows(name: str) -> None:
    """Random records are valid records of their model."""
    layout = Layout("c", MODELS[name])

    @quick
    @given(keys(layout.model), records(layout.model))
    def look(key: Any, record: Any) -> None:
        assert type(key) is (str if layout.model.key == "text" else int)
        if isinstance(key, int):
            assert -(2**63) <= key < 2**63
        else:
            key.encode()  # scalar values only: a lone surrogate has no UTF-8
        assert wrong_reply(OPERATIONS["get"], layout, (key,), record) is None

    look()


HOSTILE: dict[str, dict[str, Callable[[Any, Any], bool]]] = {
    "single_key": {
        "NUL in a key": lambda key, record: "\0" in key,
        "the empty key": lambda key, record: key == "",
        "beyond the first plane": lambda key, record: any(ord(char) > 0xFFFF for char in key),
        "composed or decomposed": lambda key, record: key in ("é", "e\u0301"),
        "the empty value": lambda key, record: record == b"",
        "NUL in a value": lambda key, record: b"\0" in record,
        "a value over a threshold": lambda key, record: len(record) in (65, 4097, 8193, 65537),
    },
    "queue": {"a list over a threshold": lambda key, record: len(record) in (129, 513)},
    "members": {"a set over a threshold": lambda key, record: len(record) in (129, 513)},
    "ranking": {
        "a ranking over a threshold": lambda key, record: len(record) in (129, 513),
        "neighbouring doubles": lambda key, record: 0.30000000000000004 in record.values(),
    },
    "document10": {
        "a dot in a name": lambda key, record: any("." in field for field in record),
        "a dollar before a name": lambda key, record: any(field.startswith("$") for field in record),
        "beyond 53 bits": lambda key, record: any(type(value) is int and abs(value) > 2**53 for value in record.values()),
        "nesting": lambda key, record: any(isinstance(value, dict) for value in record.values()),
        "a list over a threshold": lambda key, record: any(
            isinstance(value, list) and len(value) in (129, 513) for value in record.values()
        ),
    },
    "row": {
        "ids at the edge": lambda key, record: key in (2**63 - 1, -(2**63)),
        "minus zero": lambda key, record: str(record.real) == "-0.0",
    },
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_data_does_come(name: str) -> None:
    """Random data contains values that stores are known to get wrong."""
    wanted = HOSTILE[name]
    pairs = st.tuples(keys(MODELS[name]), records(MODELS[name]))
    assert finds(wanted, pairs, lambda pair: (what for what, there in wanted.items() if there(*pair)), 600) == set(wanted)


WIDE: dict[str, tuple[str, Callable[[tuple[Any, ...]], bool]]] = {
    "get_path": ("nested", lambda args: any(isinstance(part, int) and part >= 2**31 for part in args[1])),
    "item_count": ("nested", lambda args: any(isinstance(part, int) and part >= 2**31 for part in args[1])),
    "increment_path": ("nested", lambda args: abs(args[2]) > 2**53),
    "increment_field": ("hash10", lambda args: args[2] < -(2**53)),
    "increment": ("counter", lambda args: args[1] > 2**53),
    "list_range": ("queue", lambda args: args[2] >= 2**31 > args[1]),
    "top": ("ranking", lambda args: args[1] >= 2**31),
    "scan": ("single_key", lambda args: args[1] >= 2**31),
    "scan_prefix": ("single_key", lambda args: args[1] >= 2**31),
}


@pytest.mark.parametrize("operation", WIDE)
def test_numbers_past_31_bits_do_come(operation: str) -> None:
    """As positions, as numbers of entries and as increments."""
    name, wide = WIDE[operation]
    drawn = histories(MODELS[name], frozenset({operation}), 25)
    assert finds({"wide"}, drawn, lambda history: ["wide" for _, args in history if wide(args)], 200) == {"wide"}


@pytest.mark.slow
def test_requests_of_wide_and_fine_numbers_do_come() -> None:
    """Pages past the end, and neighbouring doubles, integers past 32 bits and up to 53 in filters."""
    wanted = {"'skip': 8589934585", "'limit': 2147483648", "0.30000000000000004", "4294967308", "9007199254740991"}
    asked = requests(frozenset({"find"}))
    assert finds(wanted, asked, lambda each: (text for text in wanted if text in repr(each[1].model_dump())), 3000) == wanted


@pytest.mark.parametrize(
    ("operation", "args", "may"),
    [
        ("get_path", ("k", ("a", 2**31)), True),
        ("get_path", ("k", ("a", 2**31 - 1)), False),
        ("top", ("k", 2**31), True),
        ("list_range", ("k", 0, 2**31 - 1), False),
        ("increment", ("k", 2**62), False),
        ("get", (2**62,), False),
        ("put", ("k", "é"), True),
    ],
)
def test_a_position_and_a_number_of_entries_past_31_bits_may_be_refused(operation: str, args: tuple[Any, ...], may: bool) -> None:
    """And no other number: a store keeps all 64 bits of what it is given to keep."""
    assert may_refuse(operation, args) is may


@pytest.mark.parametrize(
    "plain", [(), ("a",), ("A-b_9", b"\0\xff"), (2**63 - 1,), ("k", {"name": "x", "list": [1, None, True, 1.5]}), ("k", ("a", 0), -0.0)]
)
def test_plain(plain: tuple[Any, ...]) -> None:
    """Ordinary values are not called hostile."""
    assert is_plain(plain)


@pytest.mark.parametrize("hostile", ["", " ", "é", "a.b", "$a", "a\0", "x" * 201, "a:b"])
def test_hostile_wherever_it_stands(hostile: str) -> None:
    """A hostile value is found at any depth of a record."""
    for args in ((hostile,), ("k", hostile), ("k", {hostile: 1}), ("k", {"a": [hostile]}), (["k", hostile],), ("k", ("a", hostile), 1)):
        assert not is_plain(args)


def test_reals_at_the_edge_are_hostile() -> None:
    """Reals at the limits of their type are hostile values."""
    assert not is_plain((1e300,))
    assert not is_plain(({"a": float(2**60)},))


def test_a_store_that_lies_is_told_apart_from_the_model_store() -> None:
    """The test of the model store can fail: a store that forgets puts is found within a few histories."""

    class Forgetful(ModelStore):
        def put(self, key: Any, record: Any) -> None:
            return None

        def get(self, key: Any) -> Any:
            return self.state.get(key)

    layout = Layout("c", MODELS["single_key"])

    @settings(quick, phases=[Phase.generate])
    @given(histories(layout.model, frozenset({"get", "put"}), 25))
    def play(history: list[tuple[str, tuple[Any, ...]]]) -> None:
        store: Forgetful = Forgetful()
        state: State = {}
        for operation, args in history:
            wanted, state = step(state, operation, args)
            assert same(call(store, layout, operation, *args), wanted)

    with pytest.raises(AssertionError):
        play()
