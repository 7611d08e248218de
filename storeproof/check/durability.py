"""Checks the state of one key after a fault against the writes that were acknowledged before it.

A key is a register: `put` and `delete` replace its whole state, and several clients may write it concurrently. The only order that clients
can observe is real time: a write follows another if it was invoked after the other had completed.

The rule: a write may be the visible one if it was not refused and no acknowledged write follows it. The key may be absent if such
a write is a delete, or if no put was ever acknowledged (the key starts absent). Acknowledged writes that no acknowledged write follows
are *in force*: one, or several concurrent ones.

    put v1 |--ok--|                      v1 alone is allowed: absence is `lost`.
    put v1 |--ok--|  put v2 |--ok--|     v2 alone: v1 is `reverted`, absence is `lost`.
    put v1 |--ok--|                      both are allowed, whichever reply came first: the store may have
      put v2 |--ok--|                    executed them in either order.
    put v1 |--ok--|  del |--ok--|        absence alone: v1 is `resurrected`. If the delete found nothing, both are
                                         allowed: it wrote nothing, and saw a delete that was not acknowledged.
    put v1 |--ok--|  put v2 |--???       v1 and v2 are allowed; absence is `lost`.
    put v1 |--???    put v2 |--ok--|     v1 and v2 are allowed: v1 may have waited in a queue and have
                                         been executed after v2 was acknowledged.
    del |--???       put v1 |--ok--|     v1 and absence, for the same reason.
    put v1 |--ok--|  del |--ok--|  put v2 |--ok--|   v2 alone: v1 is `reverted`, since the last write is a put.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from storeproof.history import Observation, Operation


class Anomaly(StrEnum):
    """How the state of a key after a fault deviates from its history; `ok`: not at all."""

    OK = "ok"
    LOST = "lost"  # absent, although a put is in force and no delete can have come last
    RESURRECTED = "resurrected"  # an older record is present, although only deletes are in force
    REVERTED = "reverted"  # an older record is present, although a put is in force
    TORN = "torn"  # parts of several writes, or part of one
    INVENTED = "invented"  # a record that no write of this key can have produced
    MISCOUNTED = "miscounted"  # a counter value that no subset of its increments explains
    SPLIT = "split"  # only some of the records written together are present


ANOMALIES: Final = tuple(each for each in Anomaly if each is not Anomaly.OK)
"""The ways in which a store can break its promise; a result counts each under its name."""


@dataclass(frozen=True)
class Finding:
    """The result of checking one key, with the evidence."""

    collection: str
    key: str | int
    anomaly: Anomaly
    seen: str
    missing: tuple[Operation, ...] = ()
    """Acknowledged operations that the observed state excludes, in order of completion."""
    survivor: Operation | None = None
    """The put that was observed. None for an absent key: absence does not prove that a delete survived, since everything may be lost."""

    def __str__(self) -> str:
        last = f"; last acknowledged: {self.missing[-1]}" if self.missing else ""
        return f"{self.collection}[{self.key!r}] {self.anomaly}: found {self.seen}{last}"


def judge_key(operations: Sequence[Operation], seen: Observation) -> Finding:
    """The finding for one key.

    `operations`: every put and delete of the key, at least one, in any order; the key was absent before the first.

    Raises:
        ValueError: no operation, operations of several keys, or one that is neither put nor delete.
    """
    if (
        len(operations) == 1
        and (only := operations[0]).action == "put"
        and only.outcome == "ok"
        and seen == Observation("whole", only.write_id)
    ):
        return Finding(only.collection, only.key, Anomaly.OK, str(seen), (), only)  # as most keys: in a third of the time
    collection, key = _one_key(operations)
    acknowledged = sorted((each for each in operations if each.outcome == "ok" and not _found_nothing(each)), key=_completed)
    # Some acknowledged write follows a given write if and only if the one invoked last does.
    latest = max((each.invoked for each in acknowledged), default=0)

    def superseded(write: Operation) -> bool:
        return write.completed is not None and latest > write.completed

    in_force = [each for each in acknowledged if not superseded(each)]

    def finding(anomaly: Anomaly, missing: Sequence[Operation] = (), survivor: Operation | None = None) -> Finding:
        return Finding(collection, key, anomaly, str(seen), tuple(missing), survivor)

    if seen.sight == "torn":
        return finding(Anomaly.TORN, in_force)
    if seen.sight == "absent":
        if not any(each.action == "put" for each in acknowledged):
            return finding(Anomaly.OK)
        deletes = [each for each in operations if each.action == "delete" and each.outcome != "refused"]
        if not all(superseded(each) for each in deletes):
            return finding(Anomaly.OK)
        # Every delete was followed by an acknowledged write. Missing are those that follow all deletes; without deletes, all of them.
        last = max((_completed(each) for each in deletes), default=-1)
        return finding(Anomaly.LOST, [each for each in acknowledged if each.invoked > last])
    writer = next((each for each in operations if each.action == "put" and each.write_id == seen.write_id), None)
    if seen.sight == "invented" or writer is None or writer.outcome == "refused":
        # A refused write did not happen, so its record must not be present, just like one that was never sent.
        return finding(Anomaly.INVENTED, in_force)
    if not superseded(writer):
        return finding(Anomaly.OK, survivor=writer)
    anomaly = Anomaly.RESURRECTED if all(each.action == "delete" for each in in_force) else Anomaly.REVERTED
    return finding(anomaly, [each for each in acknowledged if each.follows(writer)], writer)


def _found_nothing(operation: Operation) -> bool:
    """Whether it is a delete that wrote nothing: it promises no more than a read, and a record that it did not see may come back with the
    write of another client that was not acknowledged. It may have come last all the same: a client that asks again after a lost reply is
    told by the second request that there was nothing."""
    return operation.action == "delete" and operation.answer is False


def _completed(operation: Operation) -> int:
    assert operation.completed is not None
    return operation.completed


def _one_key(operations: Sequence[Operation]) -> tuple[str, str | int]:
    keys = {each.place for each in operations}
    if len(keys) != 1:
        raise ValueError(f"a key is judged by the operations of that key, at least one; found {len(keys)} keys")
    if any(each.action == "increment" for each in operations):
        raise ValueError("a key of puts and deletes is judged here; counters have a check of their own")
    return next(iter(keys))
