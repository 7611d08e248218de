"""What was written together is there together: each way to be right, and each way to be split."""

from __future__ import annotations

import pytest

from storeproof.check import Anomaly, Finding, judge_groups
from storeproof.history import Operation, RequestOutcome
from tests.check.histories import operation


def group(write_id: str, outcome: RequestOutcome, *keys: str, at: int = 0) -> list[Operation]:
    """One group: a put per key, all with the same write id, times and end."""
    completed = None if outcome == "unknown" else at + 5
    return [operation(0, "put", "single_key", key, write_id, 0, at, completed, outcome) for key in keys]


def found(*seen: str, anomaly: Anomaly = Anomaly.OK) -> list[Finding]:
    """What was read under a, b, c ...: a write id, or - for nothing."""
    return [
        Finding("single_key", key, anomaly, "absent" if what == "-" else f"whole {what}") for key, what in zip("abcdef", seen, strict=False)
    ]


FIRST = group("1", "ok", "a", "b", "c")
SECOND = group("2", "unknown", "a", "b", "c", at=10)


@pytest.mark.parametrize("seen", [("1", "1", "1"), ("2", "2", "2"), ("-", "-", "-")])
def test_what_is_there_as_one_is_not_split(seen: tuple[str, ...]) -> None:
    """The older, the newer or nothing; that nothing is a loss is said by each record's own finding."""
    assert judge_groups([*FIRST, *SECOND], found(*seen)) == []


@pytest.mark.parametrize("seen", [("2", "1", "1"), ("1", "1", "2"), ("1", "1", "-"), ("-", "2", "-")])
def test_a_part_of_a_group_is_split_though_each_record_is_allowed_alone(seen: tuple[str, ...]) -> None:
    """Of an unknown write both states are right, but not both at once."""
    (finding,) = judge_groups([*FIRST, *SECOND], found(*seen))
    assert finding.anomaly is Anomaly.SPLIT
    assert finding.missing == ()
    assert "of 3 written together: single_key['a']" in str(finding)


def test_a_group_that_was_never_acknowledged_is_split_too() -> None:
    """A part of a transaction that had no reply: nothing was lost, and still it is half done."""
    assert [each.anomaly for each in judge_groups(group("1", "unknown", "a", "b"), found("1", "-"))] == [Anomaly.SPLIT]


def test_a_part_of_a_refused_group_is_split() -> None:
    """It was undone by half."""
    assert len(judge_groups(group("1", "refused", "a", "b"), found("1", "-"))) == 1


def test_a_torn_record_beside_whole_ones_is_split() -> None:
    """Whatever else is wrong with it."""
    findings = found("1", "1")
    torn = Finding("single_key", "c", Anomaly.TORN, "torn")
    assert len(judge_groups(FIRST, [*findings, torn])) == 1


def test_every_set_has_its_own_finding() -> None:
    """Two sets, one split: one finding, under its own first key."""
    (finding,) = judge_groups([*group("1", "ok", "a", "b"), *group("2", "ok", "c", "d")], found("1", "1", "2", "-"))
    assert finding.key == "c"


def test_a_set_that_was_not_read_whole_is_not_judged() -> None:
    """A record that was found harmed before is not read again: nothing follows from the others."""
    assert judge_groups(FIRST, found("1", "-")) == []


def test_records_that_are_written_alone_are_none_of_its_business() -> None:
    """Neither puts of one record, nor deletes, nor counters, whatever became of them."""
    alone = [
        *group("1", "ok", "a"),
        operation(0, "delete", "single_key", "b", "", 0, 0, 5, "ok"),
        operation(0, "increment", "counter", "c", "", 1, 0, 5, "ok"),
        operation(0, "delete", "single_key", "d", "", 0, 0, 5, "ok"),
    ]
    assert judge_groups(alone, found("1", "-", "3", "-")) == []


@pytest.mark.parametrize(
    "other",
    [
        group("2", "ok", "b", "c", "d", at=10),
        group("2", "ok", "a", at=10),
        [operation(1, "delete", "single_key", "a", "", 0, 10, 15, "ok")],
    ],
)
def test_sets_that_overlap_in_part_are_our_own_mistake(other: list[Operation]) -> None:
    """Then what is there need not be of one group, and nothing may be concluded."""
    with pytest.raises(ValueError, match="never written alone"):
        judge_groups([*FIRST, *other], found("1", "1", "1", "2"))
