"""Crossings of thresholds: the oracle judges each call, each threshold is crossed both ways, and a store that damages records is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from storeproof.contract import OPERATIONS, Layout
from storeproof.contract.operations import wrong_reply
from storeproof.experiments.correctness.play_history import play_history
from storeproof.experiments.correctness.random_examples import FailingExample
from storeproof.oracle import REFUSAL, UNDEFINED, State, step
from storeproof.oracle.equality import difference
from storeproof.oracle.strategies import may_refuse
from storeproof.oracle.thresholds import BYTES, ENTRIES, FIELDS, Call, content, crossings
from storeproof.spec.model import Model
from storeproof.spec.variation import Variation
from tests.oracle.test_strategies import ModelStore
from tests.shipped import SHIPPED

MODELS: dict[str, Model] = {name: SHIPPED.models[name] for name in ("single_key", "hash10", "nested", "queue", "members", "ranking")}
MODELS["hash514"] = Variation(fields=FIELDS).applied(SHIPPED.models["hash10"])
SIZE: dict[str, Callable[[Any], int]] = {
    "hash514": len,
    "queue": len,
    "members": len,
    "ranking": len,
    "single_key": len,
    "hash10": lambda record: len(record.get("field3", b"")),
    "nested": lambda record: len(record.get("orders", ())) or len(record.get("profile", ())) or len(record.get("name", "")),
}
"""By model: what of a record crosses the thresholds."""
CROSSED = {"single_key": BYTES, "hash10": BYTES, "nested": (*ENTRIES, *BYTES)}


def states(history: list[Call]) -> list[State]:
    """The state after each call, which the oracle knows."""
    found: list[State] = [{}]
    for operation, args in history:
        answer, after = step(found[-1], operation, args)
        assert answer is not UNDEFINED, f"{operation}{args}"
        assert answer is not REFUSAL, f"{operation}{args}"
        found.append(after)
    return found


@pytest.mark.parametrize("name", MODELS)
def test_the_oracle_judges_every_call_and_none_may_be_refused(name: str) -> None:
    """Arguments are those of the contract, and plain but for long texts, which are no reason to refuse them either."""
    layout = Layout("c", MODELS[name])
    for history in crossings(MODELS[name]):
        for before, (operation, args) in zip(states(history), history, strict=False):
            assert wrong_reply(OPERATIONS[operation], layout, args, step(before, operation, args)[0]) is None
            long = any(isinstance(arg, (str, dict, list, set)) and len(repr(arg)) > 64 for arg in args)
            assert long or not may_refuse(operation, args), f"{operation}{args}"


@pytest.mark.parametrize("name", MODELS)
def test_each_threshold_is_crossed_up_and_down(name: str) -> None:
    """From one below over the threshold to one beyond it, and back."""
    sizes = [[SIZE[name](state["k"]) for state in states(history) if "k" in state] for history in crossings(MODELS[name])]
    for size in CROSSED.get(name, ENTRIES):
        assert any({size - 1, size, size + 1} <= set(each) and each.index(size - 1) < each.index(size + 1) for each in sizes), size
        assert any(size - 1 in each[each.index(size + 1) :] for each in sizes if size + 1 in each), size


def play(name: str, store: ModelStore) -> None:
    """All crossings of a model on a store."""
    for history in crossings(MODELS[name]):
        play_history(store, Layout("c", MODELS[name]), history, Counter(), set())


@pytest.mark.parametrize("name", MODELS)
def test_a_right_store_raises_no_alarm(name: str) -> None:
    """The oracle itself, asked as a store."""
    play(name, ModelStore())


class Damaging(ModelStore):
    """Answers `damage(answer)` where it answers."""

    def __init__(self, operation: str, damage: Callable[[Any], Any]) -> None:
        super().__init__()
        self._operation, self._damage = operation, damage

    def _do(self, operation: str, *args: Any) -> Any:
        answer = super()._do(operation, *args)
        return self._damage(answer) if operation == self._operation else answer


@pytest.mark.parametrize(
    ("name", "operation", "damage", "told"),
    [
        ("queue", "get", lambda items: items[:128] + [b"?"] * len(items[128:]), "from position 128 on: [b'?'], expected [b'item-128']"),
        ("queue", "list_length", lambda length: length % 512, "expected: 512"),
        ("members", "has_member", lambda there: False, "expected: True"),
        ("members", "get", lambda members: {*sorted(members)[:128]}, "they differ in without '99'"),
        ("ranking", "top", lambda ranks: ranks[:128], "lengths 128 and 129"),
        ("single_key", "get", lambda value: value[:4096], "from position 4096 on"),
        ("nested", "item_count", lambda count: min(count, 128), "expected: 129"),
        ("hash514", "get", lambda fields: dict(list(fields.items())[:512]), "they differ in without 'field512'"),
    ],
)
def test_damage_beyond_a_threshold_is_found(name: str, operation: str, damage: Callable[[Any], Any], told: str) -> None:
    """And the message says where, however long the record is."""
    with pytest.raises(FailingExample) as found:
        play(name, Damaging(operation, damage))
    assert told in str(found.value)
    assert len(str(found.value)) < 100_000


def test_the_difference_of_short_answers_is_there_to_see() -> None:
    """Only of long ones it is told, and of two kinds the kinds are."""
    assert difference([1, 2], [1, 3]) == []
    assert difference(None, content(999)) == []
    assert difference({f"f{n}": n for n in range(99)}, {f"f{n}": n // 98 * 2 + n for n in range(99)}) == [
        "they differ in another value of 'f98'"
    ]
