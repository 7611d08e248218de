"""Reads that forget the client's own write, or go back in time: hand-written histories, and stores simulated at random."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storeproof.check import judge_sessions
from storeproof.history import Action, Operation, RequestOutcome

WRITER, OTHER = 0, 1


def history(*steps: tuple[int, Action, str | None, RequestOutcome]) -> list[Operation]:
    """Operations on one key, one after the other: who, what, the write id (of a put) or answer (of a get), and how it ended."""
    return [
        Operation(
            client=client,
            action=action,
            collection="c",
            key="k",
            invoked=number * 10,
            completed=None if outcome == "unknown" else number * 10 + 5,
            outcome=outcome,
            write_id=value or "" if action == "put" else "",
            answer=value if action == "get" else None,
        )
        for number, (client, action, value, outcome) in enumerate(steps)
    ]


def put(value: str, outcome: RequestOutcome = "ok") -> tuple[int, Action, str | None, RequestOutcome]:
    return WRITER, "put", value, outcome


def get(value: str | None, client: int = WRITER) -> tuple[int, Action, str | None, RequestOutcome]:
    return client, "get", value, "ok"


@pytest.mark.parametrize(
    ("steps", "forgotten", "back"),
    [
        ([put("1"), get("1"), put("2"), get("2")], 0, 0),
        ([put("1"), put("2"), get("1")], 1, 0),
        ([put("1"), get(None)], 1, 0),
        ([put("1"), get("1"), get(None)], 1, 1),
        ([put("1"), put("2", "unknown"), get("1")], 0, 0),
        ([put("1"), put("2", "refused"), get("1")], 0, 0),
        ([put("1", "unknown"), put("2"), get("2"), get("1")], 0, 0),
        ([put("1"), put("2", "unknown"), get("2"), get("1")], 0, 1),
        ([put("1"), put("2"), get("2", OTHER), get("1", OTHER)], 0, 1),
        ([put("1"), put("2"), get("2", OTHER), get("1", OTHER), get("1", OTHER)], 0, 2),
        ([put("1"), put("2"), get("1", OTHER), get("2", OTHER)], 0, 0),
        ([put("1"), put("2"), get(None, OTHER)], 0, 0),
        ([put("1"), get("1", OTHER), get(None, OTHER)], 0, 1),
        ([put("1"), put("2"), get("2", OTHER), get("1", 2)], 0, 0),
    ],
)
def test_hand_written_histories(steps: list[tuple[int, Action, str | None, RequestOutcome]], forgotten: int, back: int) -> None:
    """Those of the module's own text among them."""
    judged = judge_sessions(history(*steps))
    assert (len(judged.forgotten), len(judged.back), judged.unexplained) == (forgotten, back, ())
    assert judged.reads == sum(action == "get" for _, action, *_ in steps)


@pytest.mark.parametrize("steps", [[put("1"), get("9")], [put("1", "refused"), get("1")], [get("9")]])
def test_what_no_write_explains(steps: list[tuple[int, Action, str | None, RequestOutcome]]) -> None:
    """A record that was never written under the key, or that the store said it refused."""
    assert len(judge_sessions(history(*steps)).unexplained) == 1


HAPPENS: st.SearchStrategy[bool] = st.booleans()
ENDINGS: st.SearchStrategy[RequestOutcome] = st.sampled_from(("ok", "ok", "unknown", "refused"))
STEPS = st.lists(st.tuples(st.integers(0, 2), st.booleans(), ENDINGS), max_size=25)


@given(STEPS, st.data())
def test_a_single_copy_raises_no_alarm(steps: list[tuple[int, bool, RequestOutcome]], data: st.DataObject) -> None:
    """An unknown write happens at once, at any later step, or never."""
    value: str | None = None
    done: list[tuple[int, Action, str | None, RequestOutcome]] = []
    pending: list[str] = []
    for number, (client, writes, outcome) in enumerate(steps):
        late = data.draw(HAPPENS)
        if pending and late:
            value = pending.pop(0 if data.draw(HAPPENS) else -1)
        if writes:
            done.append(put(str(number), outcome))
            if outcome == "ok":
                value = str(number)
            elif outcome == "unknown":
                pending.append(str(number))
        else:
            done.append(get(value, client))
    judged = judge_sessions(history(*done))
    assert (judged.forgotten, judged.back, judged.unexplained) == ((), (), ())


@given(STEPS.filter(lambda steps: any(writes and outcome == "ok" for _, writes, outcome in steps)))
def test_an_own_write_that_is_gone_is_always_noticed(steps: list[tuple[int, bool, RequestOutcome]]) -> None:
    """All of it is lost; a client that read something goes back too."""
    done = [put(str(number), outcome) for number, (_, writes, outcome) in enumerate(steps) if writes]
    last = [value for _, _, value, outcome in done if outcome == "ok"][-1]
    judged = judge_sessions(history(*done, get(last), get(last, OTHER), get(None), get(None, OTHER)))
    assert [each.read.client for each in judged.forgotten] == [WRITER]
    assert [each.read.client for each in judged.back] == [WRITER, OTHER]
    assert {each.newer.write_id for each in (*judged.forgotten, *judged.back)} == {last}


def test_a_key_with_two_writers_cannot_be_judged() -> None:
    """Their writes have no order that is known. Nor can other operations."""
    with pytest.raises(ValueError, match="one writer"):
        judge_sessions(history(put("1"), (OTHER, "put", "2", "ok")))
    with pytest.raises(ValueError, match="gets and puts"):
        judge_sessions(history((WRITER, "delete", None, "ok")))
