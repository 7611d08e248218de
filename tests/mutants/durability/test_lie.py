"""What counts as caught: the right finding, and none besides that the lie does not explain."""

from __future__ import annotations

import pytest

from tests.mutants.durability.lie import COUNTED, LATE, Found, Kind, Lie


def lie(*by: Kind, beside: frozenset[Kind] = frozenset()) -> Lie:
    return Lie("liar", "Lies", "process_crash", {}, frozenset(by), beside)


def found(outcome: str = "fail", detail: str = "", **counts: int) -> Found:
    return Found(outcome, detail, {**dict.fromkeys(COUNTED, 0), **counts})


@pytest.mark.parametrize(
    ("told", "seen", "caught"),
    [
        (lie("torn"), found(torn=1), True),
        (lie("torn"), found(lost=1), False),
        (lie("torn"), found(torn=1, lost=1), False),
        (lie("lost", beside=LATE), found(lost=9, reverted=2), True),
        (lie("lost", beside=LATE), found(reverted=2), False),
        (lie("lost", beside=LATE), found(lost=9, torn=1), False),
        (lie("lost", beside=LATE), found("pass"), False),
        (lie("lost", beside=LATE), found("error", lost=1), False),
        (lie("unstartable"), found(detail="faults: 1; unstartable: it ended with exit status 1 before it answered"), True),
        (lie("accepts no writes"), found(detail="faults: 1; after the start it accepts no writes: read only"), True),
        (lie("accepts no writes"), found(detail="faults: 1; after the start it does not work: no"), False),
    ],
)
def test_a_lie_is_caught_by_what_is_meant_for_it_and_by_nothing_else(told: Lie, seen: Found, caught: bool) -> None:
    """A failure counts only with a finding meant for the lie, and with none that is not."""
    assert seen.caught(told) is caught
