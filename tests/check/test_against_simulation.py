"""The checks against simulated stores: one that keeps its word never alarms, one that lies always does.

For small histories the rule is also held against its own definition: every order of the writes that real time allows, tried out.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storeproof.check import Anomaly, judge_counter, judge_key
from storeproof.history import ABSENT, Observation, Operation
from tests.check.histories import operation

_HORIZON = 24
"""Ticks of simulated time: few, so that overlaps, sequences and ties are all frequent."""


@st.composite
def histories(draw: st.DrawFn, most: int = 5) -> list[Operation]:
    """Writes of one key by clients of which each writes one after the other."""
    found = []
    for number in range(draw(st.integers(1, most))):
        invoked = draw(st.integers(0, _HORIZON))
        completed = invoked + draw(st.integers(0, 8))
        outcome = draw(st.sampled_from(["ok", "ok", "ok", "unknown", "refused"]))
        action = draw(st.sampled_from(["put", "put", "delete"]))
        found.append(
            operation(
                number,
                action,  # type: ignore[arg-type]
                "single_key",
                "k",
                f"v{number}" if action == "put" else "",
                0,
                invoked,
                None if outcome == "unknown" else completed,
                outcome,  # type: ignore[arg-type]
            )
        )
    return found


def state_after(effects: list[Operation]) -> Observation:
    """What the key holds when these took effect in this order."""
    if not effects or effects[-1].action == "delete":
        return ABSENT
    return Observation("whole", effects[-1].write_id)


def possible_states(operations: list[Operation]) -> set[Observation]:
    """Every state that some order of effects explains: all acknowledged ones, any of the unknown, in an order that real time allows."""
    acknowledged = [each for each in operations if each.outcome == "ok"]
    unknown = [each for each in operations if each.outcome == "unknown"]
    states = set()
    for size in range(len(unknown) + 1):
        for some in itertools.combinations(unknown, size):
            for order in itertools.permutations([*acknowledged, *some]):
                if not any(earlier.follows(later) for earlier, later in itertools.combinations(order, 2)):
                    states.add(state_after(list(order)))
    return states


@settings(max_examples=300, deadline=None)
@given(histories())
def test_the_rule_is_what_all_allowed_orders_say(operations: list[Operation]) -> None:
    """No state is called a loss that some order explains, and none passes that no order explains."""
    possible = possible_states(operations)
    for state in [ABSENT, *(Observation("whole", each.write_id) for each in operations if each.action == "put")]:
        assert (judge_key(operations, state).anomaly is Anomaly.OK) == (state in possible), (
            f"{state} of {[str(each) for each in operations]}"
        )


@settings(max_examples=300, deadline=None)
@given(histories(most=30), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_an_honest_store_never_alarms(operations: list[Operation], chance) -> None:  # type: ignore[no-untyped-def]
    """Each acknowledged write takes effect somewhere between request and reply, an unknown one at any time after its request or never."""
    effects = []
    for each in operations:
        if each.outcome == "ok":
            assert each.completed is not None
            effects.append((chance.uniform(each.invoked, each.completed), each))
        elif each.outcome == "unknown" and chance.random() < 0.7:
            effects.append((each.invoked + chance.uniform(0, 2 * _HORIZON), each))
    effects.sort(key=lambda pair: pair[0])
    assert judge_key(operations, state_after([each for _, each in effects])).anomaly is Anomaly.OK


@st.composite
def sequences(draw: st.DrawFn) -> list[Operation]:
    """Acknowledged writes one after the other, of which each changes the key."""
    found: list[Operation] = []
    for number in range(draw(st.integers(1, 12))):
        deletes = bool(found) and found[-1].action == "put" and draw(st.booleans())
        write_id = "" if deletes else f"v{number}"
        found.append(operation(0, "delete" if deletes else "put", "single_key", "k", write_id, 0, 10 * number, 10 * number + 5, "ok"))
    return found


@settings(max_examples=200, deadline=None)
@given(sequences(), st.data())
def test_a_store_that_forgets_the_end_always_alarms(operations: list[Operation], data: st.DataObject) -> None:
    """Whatever tail is forgotten: unless the key looks the same without it (absent, and absent before)."""
    kept = data.draw(st.integers(0, len(operations) - 1))
    state = state_after(operations[:kept])
    anomaly = judge_key(operations, state).anomaly
    if state == state_after(operations):
        assert anomaly is Anomaly.OK
    elif state is ABSENT:
        assert anomaly is Anomaly.LOST
    else:
        assert anomaly is (Anomaly.RESURRECTED if operations[-1].action == "delete" else Anomaly.REVERTED)


@settings(max_examples=200, deadline=None)
@given(histories(most=12), st.integers(0, 11))
def test_a_store_that_keeps_what_it_refused_always_alarms(operations: list[Operation], which: int) -> None:
    """It said that the write did not happen, and serves it."""
    chosen = operations[which % len(operations)]
    lie = replace(chosen, action="put", write_id="refused", outcome="refused", completed=chosen.completed or chosen.invoked)
    assert judge_key([*operations, lie], Observation("whole", "refused")).anomaly is Anomaly.INVENTED


@settings(max_examples=200, deadline=None)
@given(histories(most=12), st.sampled_from(["torn", "invented"]))
def test_a_store_that_tears_or_invents_always_alarms(operations: list[Operation], sight: str) -> None:
    """No history excuses it."""
    assert judge_key(operations, Observation(sight)).anomaly.value == sight  # type: ignore[arg-type]


def increment(amount: int, outcome: str) -> Operation:
    """One increment; its times do not matter, sums have no order."""
    return operation(0, "increment", "counter", "n", "", amount, 0, None if outcome == "unknown" else 1, outcome)  # type: ignore[arg-type]


_AMOUNTS = st.lists(st.integers(-5, 5), max_size=12)


@settings(max_examples=200, deadline=None)
@given(_AMOUNTS, st.lists(st.tuples(st.integers(-5, 5), st.booleans()), max_size=8), _AMOUNTS)
@pytest.mark.slow
def test_an_honest_counter_never_alarms(sure: list[int], unknown: list[tuple[int, bool]], refused: list[int]) -> None:
    """All acknowledged, some of the unknown, none of the refused."""
    adds = (
        [increment(by, "ok") for by in sure]
        + [increment(by, "unknown") for by, _ in unknown]
        + [increment(by, "refused") for by in refused]
    )
    if adds:
        assert judge_counter(adds, sum(sure) + sum(by for by, done in unknown if done)).anomaly is Anomaly.OK


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12), st.integers(-50, 50))
def test_a_counter_that_is_off_always_alarms(sure: list[int], off: int) -> None:
    """With nothing unknown there is one right sum."""
    anomaly = judge_counter([increment(by, "ok") for by in sure], sum(sure) + off).anomaly
    assert anomaly is (Anomaly.MISCOUNTED if off else Anomaly.OK)
