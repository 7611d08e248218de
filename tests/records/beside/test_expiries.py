"""Records with a time to live: their expiry has a history of its own, by which it is judged."""

from __future__ import annotations

import random
from typing import Final

import pytest

from storeproof.contract import Key, Layout, Record
from storeproof.experiments.durability.readback import read
from storeproof.experiments.durability.record_writes import RecordWrites
from storeproof.experiments.trial_summary import findings_of
from storeproof.history import ABSENT, Observation, Recorder
from storeproof.records.beside.expiries import expiry_seen, seconds_of
from storeproof.records.beside.places import check_both, record_of
from tests.experiments.durability import memory
from tests.shipped import SHIPPED

LAYOUT: Final = Layout("kv", SHIPPED.models["single_key"])
TIMED: Final = Observation("whole", "0:1")
LASTING: Final = Observation("whole", "0:3")
_HOUR: Final = 3600


def test_times_to_live_are_hours_long_and_told_apart() -> None:
    """Less than 30 days, and each third write sets none."""
    told = [seconds_of(f"4:{number}") for number in range(1, 400)]
    some = [each for each in told if each is not None]
    assert told[2::3] == [None] * 133
    assert len(set(some)) == len(some)
    assert 24 * _HOUR <= min(some) < max(some) < 30 * 24 * _HOUR
    assert all(each % _HOUR == 0 for each in some)


@pytest.mark.parametrize(
    ("record", "left", "seen"),
    [
        (TIMED, 25 * _HOUR, TIMED),
        (TIMED, 25 * _HOUR + 1, TIMED),  # it counts whole seconds
        (TIMED, 24 * _HOUR + 5, TIMED),  # it took almost an hour
        (TIMED, None, ABSENT),
        (TIMED, 24 * _HOUR - 5, Observation("torn")),
        (TIMED, 26 * _HOUR, Observation("torn")),  # that of the next write
        (LASTING, None, LASTING),
        (LASTING, 25 * _HOUR, Observation("torn")),
        (ABSENT, None, ABSENT),
        (Observation("invented"), None, Observation("invented")),
    ],
)
def test_an_expiry_is_whole_absent_or_torn(record: Observation, left: float | None, seen: Observation) -> None:
    """By what the write of the record set; without a record there is none."""
    assert expiry_seen(record, left) == seen


class Expiring(memory.Records):
    """With times to live, none of which ends."""

    left: dict[Key, float]

    def put(self, key: Key, record: Record) -> None:
        self.left.pop(key, None)
        super().put(key, record)

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        super().put(key, record)
        self.left[key] = float(seconds)

    def expire(self, key: Key, seconds: int) -> bool:
        raise NotImplementedError

    def expires_in(self, key: Key) -> float | None:
        return self.left.get(key)

    def persist(self, key: Key) -> bool:
        raise NotImplementedError


class Keeping(Expiring):
    """A put leaves the time to live as it is."""

    def put(self, key: Key, record: Record) -> None:
        memory.Records.put(self, key, record)


class Forgetting(Expiring):
    """Some are lost."""

    def put_expiring(self, key: Key, record: Record, seconds: int) -> None:
        self.put(key, record)


def found(kind: type[memory.Records], *, asked: bool = True) -> tuple[int, set[tuple[str, bool]]]:
    """How many writes were of such records, and what an audit finds: the anomalies, and whether they are of an expiry."""
    session = memory.Session(memory.Store())
    kind = type("Own", (kind,), {"left": {}})
    session.collection = lambda layout: kind(session, layout)  # type: ignore[method-assign]
    session.collection(LAYOUT).prepare()
    log, layouts = Recorder().client(), {"single_key": LAYOUT}
    writes = RecordWrites(layouts, log, 1, random.Random(4), expiring=asked)
    writes.use(session)
    for _ in range(200):
        writes.request()
        writes.end("ok")
    history = log.operations()
    seen, _ = read(session, layouts, [each.place for each in history])
    check_both(seen)
    findings = {(str(each.anomaly), str(each.key).endswith("#expiry")) for each in findings_of(history, seen)}
    return sum(record_of(each.key) is not None for each in history), findings


def test_they_are_among_the_writes_and_are_audited() -> None:
    """A store that has them is asked for them; what it loses is found and named, and one that is right is not blamed."""
    number, findings = found(Expiring)
    assert 20 < number < 60
    assert findings == set()
    assert found(Forgetting)[1] == {("lost", True), ("split", True)}
    assert found(Keeping)[1] == {("torn", True), ("split", True)}
    assert found(memory.Records) == (0, set())
    assert found(Expiring, asked=False) == (0, set())
