"""Updates of several fields: each half of a record has a history of its own, by which it is judged."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from storeproof.check import Anomaly
from storeproof.contract import Key, Layout, Record
from storeproof.experiments.durability.readback import audit
from storeproof.experiments.durability.record_writes import RecordWrites
from storeproof.history import ABSENT, Observation, Recorder, by_place
from storeproof.records.hash_halves import fields_of, half_key, halved, observed, record_key
from storeproof.records.self_verifying import recipe
from tests.experiments.durability import memory
from tests.shipped import SHIPPED

LAYOUT = Layout("sp_1", SHIPPED.models["hash10"])
KEY = halved("p1:c0:3")
LOWER, UPPER = (fields_of(LAYOUT, half) for half in (0, 1))


def part(write_id: str, *names: str) -> dict[str, bytes]:
    """Fields as a write makes them."""
    made: Any = recipe(LAYOUT.model).make(KEY, write_id)
    return {name: made[name] for name in names}


def test_the_key_of_a_half_is_that_of_its_record_and_more() -> None:
    """A half is found under the key of its record; any other place under its own."""
    assert KEY == "p1:c0:3:halves"
    assert [record_key(half_key(KEY, half)) for half in (0, 1)] == [KEY, KEY]
    assert [record_key(key) for key in ("p1:c0:3", "a#0", 7)] == ["p1:c0:3", "a#0", 7]
    assert (*LOWER, *UPPER) == SHIPPED.models["hash10"].record.fields  # type: ignore[union-attr]  # it is a hash


@pytest.mark.parametrize(
    ("record", "lower", "upper"),
    [
        (None, ABSENT, ABSENT),
        (part("1:1", *LOWER), Observation("whole", "1:1"), ABSENT),
        ({**part("1:1", *LOWER), **part("2:5", *UPPER)}, Observation("whole", "1:1"), Observation("whole", "2:5")),
        ({**part("1:1", *LOWER), **part("2:5", *LOWER[:-1])}, Observation("torn", ""), ABSENT),  # the last field stayed as it was
        ({**part("1:1", *LOWER, *UPPER[:-1])}, Observation("whole", "1:1"), Observation("torn", "")),  # the last one is missing
        ({**part("1:1", *LOWER), UPPER[0]: b"x"}, Observation("whole", "1:1"), Observation("invented", "")),
        ({**part("1:1", *LOWER), LOWER[0]: b""}, Observation("torn", ""), ABSENT),
    ],
)
def test_a_half_is_whole_absent_or_torn(record: Record | None, lower: Observation, upper: Observation) -> None:
    """Each half is judged by its own fields, whatever the other has."""
    assert [observed(LAYOUT, half_key(KEY, half), record) for half in (0, 1)] == [lower, upper]


class Updated(memory.Records):
    """With updates of several fields."""

    def get_fields(self, key: Key, fields: list[str]) -> list[bytes | None]:
        record: Any = self.get(key) or {}
        return [record.get(field) for field in fields]

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        record: Any = self.get(key) or {}
        self.put(key, {**record, **values})


class Dropping(Updated):
    """Of some updates the last field is not set."""

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        some = list(values.items())
        super().set_fields(key, dict(some[:-1] if random.Random(repr(values)).random() < 0.2 else some))


class Replacing(Updated):
    """An update is a put: the fields of the other half are gone."""

    def set_fields(self, key: Key, values: Mapping[str, bytes]) -> None:
        self.put(key, dict(values))


def anomalies(kind: type[memory.Records]) -> set[Anomaly]:
    """What an audit finds after some hundred writes."""
    store = memory.Store()
    session = memory.Session(store)
    session.collection = lambda layout: kind(session, layout)  # type: ignore[method-assign]
    session.collection(LAYOUT).prepare()
    log = Recorder().client()
    layouts = {"hash10": LAYOUT}
    writes = RecordWrites(layouts, log, 1, random.Random(4))
    writes.use(session)
    for _ in range(300):
        writes.request()
        writes.end("ok")
    assert any(str(each.key).endswith("#1") for each in log.operations()) == (kind is not memory.Records)
    findings, _ = audit(session, layouts, by_place(log.operations()))
    return {finding.anomaly for finding in findings} - {Anomaly.OK}


@pytest.mark.parametrize(
    ("kind", "found"), [(memory.Records, set()), (Updated, set()), (Dropping, {Anomaly.TORN}), (Replacing, {Anomaly.LOST})]
)
def test_updates_are_among_the_writes_and_are_audited(kind: type[memory.Records], found: set[Anomaly]) -> None:
    """A store that has them is asked for them; what it loses of one is found, and one that is right is not blamed."""
    assert anomalies(kind) == found
