"""What a transaction had read counts as acknowledged where that transaction is there, and only there."""

from __future__ import annotations

from storeproof.check import Anomaly, Audits, founded
from storeproof.history import ABSENT, Observation, Operation, Place, RequestOutcome, Seen

WRITER, READER, THIRD = "1:1", "2:1", "0:1"


def put(write_id: str, key: str, outcome: RequestOutcome = "unknown", *, read: str = "", invoked: int = 1) -> Operation:
    client, completed = int(write_id[0]), None if outcome == "unknown" else invoked + 1
    return Operation(
        client=client, action="put", collection="kv", key=key, invoked=invoked, completed=completed, outcome=outcome, write_id=write_id,
        expected=read,
    )  # fmt: skip


def kinds(operations: list[Operation], **seen: str) -> dict[str, Anomaly]:
    """What is wrong, by key; of the keys that are not named nothing is there."""
    shown: dict[Place, Seen] = {each.place: ABSENT for each in operations}
    shown |= {("kv", key): Observation("whole", write_id) for key, write_id in seen.items()}
    found = Audits().judge(founded(operations, shown), shown)
    return {str(each.key): each.anomaly for each in found if each.anomaly is not Anomaly.OK}


def pair(outcome: RequestOutcome = "unknown") -> list[Operation]:
    """A transaction of two records, and another one that had read the first of them."""
    return [put(WRITER, "a"), put(WRITER, "b"), put(READER, "c", outcome, read=WRITER, invoked=2)]


def test_a_reader_without_the_writer_is_a_loss() -> None:
    """Though no one was told that the writer had committed, and perhaps not the reader either."""
    assert kinds(pair(), c=READER) == {"a": Anomaly.LOST, "b": Anomaly.LOST}
    assert kinds(pair("ok"), c=READER) == {"a": Anomaly.LOST, "b": Anomaly.LOST}


def test_each_beginning_is_a_state() -> None:
    """Nothing, the writer alone, and both; what no one acknowledged need not be there."""
    assert kinds(pair()) == kinds(pair(), a=WRITER, b=WRITER) == kinds(pair(), a=WRITER, b=WRITER, c=READER) == {}


def test_half_of_a_transaction_is_split() -> None:
    """Also where no other transaction is there that had read it."""
    assert kinds(pair(), a=WRITER) == {"a": Anomaly.SPLIT}


def test_an_older_version_of_what_was_read_is_reverted() -> None:
    """It had been replaced before it was read."""
    before = [put("1:0", "a", "ok"), put("1:0", "b", "ok")]
    later = [put(WRITER, "a", invoked=3), put(WRITER, "b", invoked=3), put(READER, "c", read=WRITER, invoked=4)]
    assert kinds([*before, *later], a="1:0", b="1:0", c=READER) == {"a": Anomaly.REVERTED, "b": Anomaly.REVERTED}
    assert kinds([*before, *later], a="1:0", b="1:0") == {}


def test_it_goes_on_to_what_that_had_read() -> None:
    """Of three transactions the last one proves the first."""
    assert kinds([put(THIRD, "d", read=READER, invoked=3), *pair()], d=THIRD) == dict.fromkeys("abc", Anomaly.LOST)
    assert kinds([put(THIRD, "d", read=READER, invoked=3), *pair()], a=WRITER, b=WRITER, c=READER) == {}


def test_what_was_refused_is_not_made_so() -> None:
    """That it was read all the same is for the isolation levels to say."""
    assert kinds([put(WRITER, "a", "refused"), put(READER, "c", read=WRITER, invoked=3)], c=READER) == {}
