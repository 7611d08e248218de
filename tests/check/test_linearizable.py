"""Linearizability: each way to be right, each way to be wrong, and agreement with a search that tries everything."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storeproof import native_support
from storeproof.check import contradiction, is_linearizable
from storeproof.check.reduction import only_reads, unobserved
from storeproof.check.shrink import _since_a_put
from storeproof.errors import NotAvailable
from storeproof.history import Operation
from tests.check.accesses import access, accesses
from tests.pace import processor_seconds, unit

pytestmark = pytest.mark.skipif(not native_support.present(), reason="the compiled part was not built")

RIGHT = {
    "one after the other": ("put a |--|", "get -> a     |--|", "del -> yes         |--|", "get -> nothing           |--|"),
    "a read during a write sees the old or the new": ("put a |----------|", "get -> nothing |--|", "get -> a               |--|"),
    "writes at once, in the order in which they are read": (
        "put a    |--------|",
        "put b    |--------|",
        "get -> b             |-|",
        "get -> b                |-|",
    ),
    "an unknown write that happened, late": ("put a |-?", "get -> nothing |-|", "get -> a           |-|"),
    "an unknown write that did not happen": ("put a |-|", "put b     |-?", "get -> a       |-|", "get -> a            |-|"),
    "an unknown write after one that was acknowledged later": ("put b |-?", "put a  |-|", "get -> a      |-|", "get -> b           |-|"),
    "an unknown read says nothing": ("put a |-|", "get       |-?", "get -> a        |-|"),
    "an unknown comparison that found what it expected": ("put a |-|", "cas a b   |-?", "get -> b         |-|"),
    "a refused write did not happen": ("put a |-|", "put b    |-no", "get -> a        |-|"),
    "one of two comparisons wins": (
        "put a          |-|",
        "cas a b -> yes     |--|",
        "cas a c -> no      |--|",
        "get -> b               |-|",
    ),
    "the first to ask gets it": ("pia a -> yes |---|", "pia b -> no  |---|", "get -> a            |-|"),
    "after a delete it is absent again": ("put a |-|", "del -> yes |--|", "pia b -> yes    |--|", "del -> yes           |-|"),
    "a counter": ("add +2 -> 2 |--|", "add +3 -> 5  |--|", "get -> 5            |-|"),
    "a counter with an unknown increment, seen": ("add +2 -> 2 |--|", "add +3 |-?", "add +1 -> 6           |-|"),
    "a counter with an unknown increment, not seen": ("add +2 -> 2 |--|", "add +3 |-?", "add +1 -> 3           |-|"),
    "a counter that is absent is zero": ("get -> nothing |-|", "add +1 -> 1        |-|"),
}
WRONG = {
    "stale read": ("put a |--|", "put b      |--|", "get -> a            |--|"),
    "a read goes back": ("put a |-|", "put b    |----------|", "get -> b    |-|", "get -> a         |-|"),
    "a value that no client wrote": ("put a |--|", "get -> z     |--|"),
    "a value that was refused": ("put a |-no", "get -> a     |--|"),
    "an acknowledged write is gone": ("put a |--|", "get -> nothing |--|"),
    "an unknown write was seen, and then was not": ("put a |-|", "put b     |-?", "get -> b       |-|", "get -> a            |-|"),
    "comparisons that both win": ("put a          |-|", "cas a b -> yes     |---|", "cas a c -> yes     |---|"),
    "a comparison that lost to no one": ("put a |-|", "cas a b -> no |-|"),
    "two that were both the first": ("pia a -> yes |---|", "pia b -> yes |---|"),
    "one was told that something was there": ("pia a -> no |---|",),
    "a delete of nothing": ("del -> yes |---|",),
    "lost update": ("add +1 -> 1 |---|", "add +1 -> 1 |---|"),
    "a counter that goes back": ("add +1 -> 1 |--|", "add +1 -> 2      |--|", "get -> 1             |-|"),
    "a counter that counts twice": ("add +1 -> 2 |--|",),
}


@pytest.mark.parametrize("lines", RIGHT.values(), ids=RIGHT)
def test_what_some_order_explains_is_right(lines: tuple[str, ...]) -> None:
    """Written by hand, one for each reason to be right."""
    assert is_linearizable(accesses(*lines), 5.0) is True


@pytest.mark.parametrize("lines", WRONG.values(), ids=WRONG)
def test_what_no_order_explains_is_wrong(lines: tuple[str, ...]) -> None:
    """One for each reason to be wrong; and what is shown of it is wrong by itself."""
    history = accesses(*lines)
    assert is_linearizable(history, 5.0) is False
    found = contradiction(history, 5.0)
    assert is_linearizable(found.operations, 5.0) is False
    assert found.culprit in found.operations


def test_nothing_is_right() -> None:
    """No operation contradicts none."""
    assert is_linearizable([], 1.0) is True


def orders(history: Sequence[Operation]) -> Iterator[tuple[Operation, ...]]:
    """Every order that real time allows, with any of the unknown writes or without them."""
    sure = [each for each in history if each.outcome == "ok"]
    unknown = [each for each in history if each.outcome == "unknown" and each.action != "get"]
    for size in range(len(unknown) + 1):
        for some in itertools.combinations(unknown, size):
            for order in itertools.permutations([*sure, *some]):
                if not any(
                    later.completed is not None and later.completed < earlier.invoked for earlier, later in itertools.combinations(order, 2)
                ):
                    yield order


def explains(order: Sequence[Operation]) -> bool:
    """Whether these answers are right, one operation after the other."""
    state: str | int | None = None
    for each in order:
        answer: str | int | bool | None = None
        if each.action == "get":
            answer = state
        elif each.action == "put":
            state = each.write_id
        elif each.action == "increment":
            answer = state = int(state or 0) + each.amount
        elif each.action == "delete":
            answer, state = state is not None, None
        elif each.action == "put_if_absent":
            answer, state = state is None, each.write_id if state is None else state
        else:
            answer, state = state == each.expected, each.write_id if state == each.expected else state
        if each.answer_counts and each.action != "put" and answer != each.answer:
            return False
    return True


VALUES = ("a", "b", "c")


@st.composite
def histories(draw: st.DrawFn, counter: bool) -> list[Operation]:
    """A few operations that overlap a lot; each write id is written once, as the suites do."""
    found = []
    for number in range(draw(st.integers(1, 5))):
        invoked = draw(st.integers(0, 12))
        outcome = draw(st.sampled_from(["ok", "ok", "ok", "ok", "unknown", "refused"]))
        action = draw(
            st.sampled_from(["get", "increment"] if counter else ["get", "get", "put", "put", "compare_and_set", "put_if_absent", "delete"])
        )
        answer: str | int | bool | None = draw(st.booleans())
        if action == "put":
            answer = None
        elif action == "get":
            answer = draw(st.sampled_from([None, 1, 2, 3, 4] if counter else [None, "v0", "v1", "v2", "v3"]))
        elif action == "increment":
            answer = draw(st.integers(0, 4))
        found.append(
            access(
                number,
                action,  # type: ignore[arg-type]
                invoked,
                None if outcome == "unknown" else invoked + draw(st.integers(0, 8)),
                outcome,  # type: ignore[arg-type]
                write_id=f"v{number}" if action in ("put", "compare_and_set", "put_if_absent") else "",
                expected=f"v{draw(st.integers(0, 3))}" if action == "compare_and_set" else "",
                amount=draw(st.integers(1, 2)) if action == "increment" else 0,
                answer=answer,
            )
        )
    return found


@settings(max_examples=400, deadline=None)
@given(st.one_of(histories(counter=False), histories(counter=True)))
def test_it_says_what_a_search_through_all_orders_says(history: list[Operation]) -> None:
    """Small histories, every order tried out; and what is shown of a wrong one is wrong by that search too."""
    right = any(explains(order) for order in orders(history))
    assert is_linearizable(history, 5.0) is right, [str(each) for each in history]
    if not right:
        part = contradiction(history, 5.0)
        assert not any(explains(order) for order in orders(part.operations)), [str(each) for each in part.operations]


@settings(max_examples=400, deadline=None)
@given(histories(counter=False), st.lists(st.booleans(), min_size=5, max_size=5), st.randoms(use_true_random=False))
def test_what_is_taken_out_of_a_right_history_leaves_it_right(history: list[Operation], ignored: list[bool], chance: random.Random) -> None:
    """Only then does the smallest wrong part show what is wrong with the whole: the rules, held against the search through all orders."""
    history = [
        replace(each, answer_ignored=forget and each.action not in ("get", "put")) for each, forget in zip(history, ignored, strict=False)
    ]
    if not any(explains(order) for order in orders(history)):
        return
    left = list(history)
    for each in history:
        if (only_reads(each) or unobserved(each, left)) and chance.random() < 0.7:
            left.remove(each)
    assert any(explains(order) for order in orders(left)), [str(each) for each in left]


@settings(max_examples=400, deadline=None)
@given(histories(counter=False))
def test_what_ended_before_a_put_that_stood_alone_may_go(history: list[Operation]) -> None:
    """Tried where the search would allow anything: whatever it takes out of a right history, the rest stays right.

    The one that is kept is the last that ended, as there.
    """
    acknowledged = sorted((each for each in history if each.outcome == "ok"), key=lambda each: each.completed or 0)
    if acknowledged and any(explains(order) for order in orders(history)):
        rest = [each for each in history if each is not acknowledged[-1]]
        left = _since_a_put(rest, acknowledged[-1], lambda _: True)
        assert any(explains(order) for order in orders([*left, acknowledged[-1]])), [str(each) for each in left]


def simulated(number: int, clients: int, seed: int, *, counter: bool = False, plain: bool = False, lose: int = 0) -> list[Operation]:
    """An honest store under clients that never pause; the replies of `lose` writes are lost."""
    chance = random.Random(seed)
    free = [0] * clients
    plan = []
    for _ in range(number):
        client = min(range(clients), key=free.__getitem__)
        invoked = free[client] + chance.randrange(1, 50)
        completed = invoked + chance.randrange(20, 300)
        plan.append((chance.uniform(invoked, completed), client, invoked, completed))
        free[client] = completed
    state: str | int | None = 0 if counter else None
    found = []
    for place, (_, client, invoked, completed) in enumerate(sorted(plan)):
        conditional = [] if plain else ["compare_and_set", "put_if_absent"]
        action = chance.choice(["get", "increment"] if counter else ["get", "get", "put", "delete", *conditional])
        value, expected, amount = f"v{place}", f"v{chance.randrange(number)}", chance.choice([1, 2, 5])
        if isinstance(state, str) and chance.random() < 0.5:
            expected = state
        answers = {
            "get": state,
            "put": None,
            "delete": state is not None,
            "put_if_absent": state is None,
            "compare_and_set": state == expected,
            "increment": int(state or 0) + amount if counter else None,
        }
        after = {
            "put": value,
            "delete": None,
            "put_if_absent": value if state is None else state,
            "compare_and_set": value if state == expected else state,
            "increment": answers["increment"],
        }
        state = after.get(action, state)  # type: ignore[assignment]
        found.append(access(client, action, invoked, completed, "ok", value, expected, amount, answers[action]))  # type: ignore[arg-type]
    for place in chance.sample(range(number // 2, number), lose):
        each = found[place]
        found[place] = access(each.client, each.action, each.invoked, None, "unknown", each.write_id, each.expected, each.amount)
    return found


@pytest.mark.serial
@pytest.mark.parametrize("counter", [False, True])
@pytest.mark.parametrize("lose", [0, 8])
def test_a_thousand_operations_of_eight_clients_are_judged_quickly(counter: bool, lose: int) -> None:
    """The largest history that the suites make, in 40 units of processor time; 2 to 8 were seen."""
    history = simulated(1000, 8, seed=3, counter=counter, lose=lose)
    found = []
    took = processor_seconds(lambda: found.append(is_linearizable(history, 60.0)))
    assert found == [True]
    assert took < 40 * unit()


@pytest.mark.parametrize("seed", range(4))
def test_one_stale_read_among_hundreds_is_shown_with_few_operations(seed: int) -> None:
    """What a person looks at: the read, the write that it should have seen, and where its value came from."""
    history = simulated(400, 6, seed, plain=True)
    reads = [each for each in history if each.action == "get" and each.invoked > 5000]
    stale = reads[len(reads) // 2]
    old = next(each for each in history if each.action == "put" and each.completed is not None and each.completed < stale.invoked - 3000)
    history[history.index(stale)] = access(stale.client, "get", stale.invoked, stale.completed, "ok", answer=old.write_id)
    assert is_linearizable(history, 10.0) is False
    part = contradiction(history, 20.0)
    assert len(part.operations) <= 5, [str(each) for each in part.operations]
    assert any(each.action == "get" and each.answer == old.write_id for each in part.operations)


def test_a_lost_update_of_a_counter_is_shown_as_two_equal_sums() -> None:
    """What was done before is one increment of all that, and nothing after it is shown."""
    history = sorted(simulated(300, 4, 5, counter=True), key=lambda each: each.invoked)
    adds = [each for each in history if each.action == "increment"]
    first, second = next((a, b) for a, b in itertools.pairwise(adds[50:]) if a.client != b.client)
    history[history.index(second)] = access(
        second.client, "increment", second.invoked, second.completed, "ok", "", "", second.amount, first.answer
    )
    part = contradiction(history, 20.0)
    assert len(part.operations) < 12, [str(each) for each in part.operations]
    assert is_linearizable(part.operations, 5.0) is False


def test_a_search_that_takes_too_long_is_given_up() -> None:
    """Fifty writes at once whose order nothing tells, and a read that none explains: 2**50 states. No verdict is not a pass."""
    history = [access(n, "put", 0, 1000, "ok", f"v{n}") for n in range(50)]
    history.append(access(50, "get", 2000, 2100, "ok", answer="no client wrote this"))
    began = time.monotonic()
    assert is_linearizable(history, 0.5) is None
    assert time.monotonic() - began < 20.0


def test_more_operations_than_it_can_take_are_an_error() -> None:
    """The load keeps to the limit: a history that is cut would prove nothing."""
    with pytest.raises(ValueError, match="at most 1000 operations"):
        is_linearizable([access(0, "put", n, n + 1, "ok", f"v{n}") for n in range(1001)], 1.0)


def test_without_the_compiled_part_it_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the remedy, and never as a pass."""
    monkeypatch.setattr(native_support, "present", lambda: False)
    with pytest.raises(NotAvailable, match="linearizability needs the compiled part") as missing:
        is_linearizable([], 1.0)
    assert "pip install" in missing.value.remedy
