"""Which keys an audit reads."""

from __future__ import annotations

from storeproof.check import Audits
from storeproof.history import ABSENT, Observation, Operation


def put(key: str, moment: int) -> Operation:
    """An acknowledged put; its write id is `1:MOMENT`."""
    return Operation(
        client=1, action="put", collection="a", key=key, invoked=moment, completed=moment + 1, outcome="ok", write_id=f"1:{moment}"
    )


def test_a_key_is_read_after_its_last_write_and_in_the_end_and_no_more_once_it_is_harmed() -> None:
    """With all its operations, also those before the last audit."""
    audits = Audits()
    first = [put("kept", 1), put("lost", 3), put("again", 5)]
    assert list(audits.due(first, everything=False)) == [("a", "kept"), ("a", "lost"), ("a", "again")]
    audits.judge(first, {("a", "kept"): Observation("whole", "1:1"), ("a", "lost"): ABSENT, ("a", "again"): Observation("whole", "1:5")})
    audits.ended(10)
    then = [*first, put("again", 10), put("new", 12), put("lost", 14)]
    assert audits.due(then, everything=False) == {("a", "again"): [then[2], then[3]], ("a", "new"): [then[4]]}
    assert list(audits.due(then, everything=True)) == [("a", "kept"), ("a", "again"), ("a", "new")]
