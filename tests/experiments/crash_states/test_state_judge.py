"""In which order states are tried, and what of their evidence is none of a trial."""

from __future__ import annotations

from typing import Any, Final

import pytest

from storeproof.disk.recording import DiskState
from storeproof.evidence import CrashEvidence, EvidenceDamaged, StateEvidence, StoreEvidence
from storeproof.experiments.crash_states.crash_summary import CrashSummary
from storeproof.experiments.crash_states.state_judge import in_order, replay_states
from storeproof.history import ABSENT, Observation, Operation

WRITTEN: Final = ("row", 1)
LATER: Final = ("row", 2)
WHOLE: Final = Observation("whole", "0:1")
SEEN: Final = {WRITTEN: WHOLE}
AGAIN: Final = {**SEEN, LATER: Observation("whole", "1:1")}


def put(client: int, key: int, invoked: int) -> Operation:
    return Operation(
        client=client,
        action="put",
        collection="row",
        key=key,
        invoked=invoked,
        completed=invoked + 1,
        outcome="ok",
        write_id=f"{client}:1",
    )


def replayed(**what: Any) -> CrashSummary:
    """One state with this evidence, of a recording of one write."""
    crash = CrashEvidence("ext4", 1, 9, 1, {"row": "rows"}, [1, 0, 0, 0])
    crash.states.append(StateEvidence("5-all", 0, 2, 7, **what))
    summary = CrashSummary(model="ext4")
    replay_states(StoreEvidence("case", "seed", "target", cuts_off=True, operations=[put(0, 1, 1), put(1, 2, 3)], crash=crash), summary)
    return summary


def test_tiers_take_turns_and_each_is_tried_as_the_seed_has_it() -> None:
    """So it is known which state was due."""
    states = [DiskState(number, f"{number}-all", min(number % 3, 1), 0, 0) for number in range(9)]
    first, second = in_order(states, "seed"), in_order(reversed(states), "seed")
    assert first == second
    assert [each.tier for each in first] == [0, 1, 0, 1, 0, 1, 1, 1, 1]
    assert first != in_order(states, "another")
    assert [each.index for each in first if each.tier == 1] != sorted(each.index for each in first if each.tier == 1)


def test_a_state_is_judged_after_each_crash() -> None:
    """By what had to be there then."""
    assert replayed(seen=SEEN, depth=2, client=1, again=AGAIN).failed == []
    (first,) = replayed(seen={WRITTEN: ABSENT}).failed
    (second,) = replayed(seen=SEEN, depth=2, client=1, again={**AGAIN, LATER: ABSENT}).failed
    assert [first.findings[0].anomaly, second.findings[0].anomaly] == ["lost", "lost"]
    (ended,) = replayed(broken="no start", ended=True).failed
    assert ended.broken == "no start"


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ({}, "it was not read, and nothing says why"),
        ({"seen": SEEN}, "it held after the crash, and there was no other one"),
        ({"seen": SEEN, "depth": 2}, "it is said to have worked after the crash, and it did not"),
        ({"seen": {WRITTEN: ABSENT}, "depth": 2, "client": 1, "again": AGAIN}, "it is said to have worked after the crash, and it did not"),
        ({"seen": SEEN, "depth": 2, "client": 1}, "it was not read after the next crash, and nothing says why"),
        ({"seen": {}}, "1 keys were to be read and were not, or the reverse"),
        ({"seen": SEEN, "depth": 2, "client": 1, "again": SEEN}, "1 keys were to be read and were not, or the reverse"),
    ],
)
def test_what_no_trial_leaves_is_refused(what: dict[str, Any], says: str) -> None:
    """A reading is left out, or made up."""
    with pytest.raises(EvidenceDamaged, match=says):
        replayed(**what)
