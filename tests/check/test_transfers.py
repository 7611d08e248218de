"""What became of transfers: whole, lost, half, or back although they were refused. Checked against stores that are simulated by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storeproof.check import Books, judge_transfers
from storeproof.history import ABSENT, Balances, Observation, RequestOutcome, Transfer

ACCOUNTS = ("a", "b", "c")


def sent(number: int, source: str, target: str, amount: int, outcome: RequestOutcome) -> Transfer:
    """The transfer of this number."""
    completed = None if outcome == "unknown" else number * 10 + 5
    return Transfer(
        client=0,
        entry=f"entry{number}",
        write_id=f"0:{number}",
        source=source,
        target=target,
        amount=amount,
        invoked=number * 10,
        completed=completed,
        outcome=outcome,
    )


def books(transfers: Sequence[Transfer], happened: Sequence[bool]) -> Books:
    """Of a store in which just these happened, each whole."""
    entries = {
        each.entry: Observation("whole", each.write_id) if there else ABSENT for each, there in zip(transfers, happened, strict=True)
    }
    balances = dict.fromkeys(ACCOUNTS, 0)
    for each, there in zip(transfers, happened, strict=True):
        if there:
            balances[each.source] -= each.amount
            balances[each.target] += each.amount
    return Books(entries, balances)


PAIRS = st.permutations(ACCOUNTS)
OUTCOMES: st.SearchStrategy[RequestOutcome] = st.sampled_from(("ok", "refused", "unknown"))
HISTORIES = st.lists(st.tuples(PAIRS, st.integers(1, 9), OUTCOMES, st.booleans()), min_size=1, max_size=12).map(
    lambda found: (
        [sent(number, pair[0], pair[1], amount, outcome) for number, (pair, amount, outcome, _) in enumerate(found)],
        [there for *_, there in found],
    )
)


@given(HISTORIES)
def test_whole_transfers_are_lost_or_returned_by_their_outcome_alone(history: tuple[list[Transfer], list[bool]]) -> None:
    """Whatever happened, if it happened whole nothing is uneven; what was acknowledged is there or lost, and unknown ones are free."""
    transfers, happened = history
    judged = judge_transfers(transfers, books(transfers, happened))
    assert not judged.halves
    both = list(zip(transfers, happened, strict=True))
    assert judged.lost == [each for each, there in both if each.outcome == "ok" and not there]
    assert judged.returned == [each for each, there in both if each.outcome == "refused" and there]
    assert judged.happened == sum(each.outcome == "unknown" and there for each, there in both)
    assert judged.acknowledged + judged.refused + judged.unknown == len(transfers)


@given(HISTORIES, st.sampled_from(ACCOUNTS), st.integers(-9, 9).filter(bool))
def test_any_account_that_shows_more_or_less_is_uneven(history: tuple[list[Transfer], list[bool]], account: str, extra: int) -> None:
    """A half of a transfer, one increment done twice, or one that was overwritten."""
    transfers, happened = history
    right = books(transfers, happened)
    judged = judge_transfers(transfers, Books(right.entries, {**right.balances, account: right.balances[account] + extra}))
    assert judged.uneven == {account: (right.balances[account] + extra, right.balances[account])}
    assert judged.halves


@given(HISTORIES, st.data())
def test_an_entry_without_its_transfer_or_the_other_way_is_uneven(history: tuple[list[Transfer], list[bool]], data: st.DataObject) -> None:
    """The sum of all accounts is 0 all the same: it is the entries that show it."""
    transfers, happened = history
    right = books(transfers, happened)
    wrong = data.draw(st.sampled_from(transfers))
    there = right.entries[wrong.entry] != ABSENT
    entries = {**right.entries, wrong.entry: ABSENT if there else Observation("whole", wrong.write_id)}
    judged = judge_transfers(transfers, Books(entries, right.balances))
    assert sum(right.balances.values()) == 0
    assert judged.uneven.keys() == {wrong.source, wrong.target}


def test_an_entry_that_is_not_what_was_put_is_torn() -> None:
    """It says that something of the transfer happened, and counts as that."""
    transfer = sent(1, "a", "b", 5, "ok")
    for seen in (Observation("torn"), Observation("invented"), Observation("whole", "9:9")):
        judged = judge_transfers([transfer], Books({"entry1": seen}, {"a": -5, "b": 5}))
        assert (len(judged.torn), judged.halves, judged.lost) == (1, True, [])


@pytest.mark.parametrize(("shown", "skewed"), [({"a": -5, "b": 5}, 0), ({"a": -5, "b": 0}, 1), ({}, 0)])
def test_a_snapshot_that_does_not_add_up_shows_half_of_a_transfer(shown: dict[str, int], skewed: int) -> None:
    """Read meanwhile, whatever happened afterwards."""
    transfer = sent(1, "a", "b", 5, "ok")
    snapshot = Balances(client=1, invoked=12, shown=shown)
    judged = judge_transfers([transfer], books([transfer], [True]), [snapshot])
    assert (len(judged.skewed), judged.halves, judged.snapshots) == (skewed, bool(skewed), 1)


def test_two_transfers_with_one_entry_cannot_be_judged() -> None:
    """It would not say which of them happened."""
    transfer = sent(1, "a", "b", 5, "ok")
    with pytest.raises(ValueError, match="an entry of its own"):
        judge_transfers([transfer, transfer], books([transfer], [True]))
