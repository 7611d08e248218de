"""A client that writes records in batches. Each record is recorded as a separate operation, since a batch need not be atomic."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

from storeproof.contract import Collection, Key, Layout, Record, Session, call, supports
from storeproof.experiments.client import Strategy
from storeproof.experiments.durability.record_writes import key
from storeproof.history import Recorder, RequestOutcome
from storeproof.records.self_verifying import recipe, write_id
from storeproof.spec.model import CounterRecord

BULK_OPERATION: Final = "put_many"

BATCH: Final = 50
"""Records per batch: more than the smallest internal buffers of stores, and few enough for several batches in every round."""

_FIRST: Final = 2**31
"""The first key number, above those of clients that write single records in the same period."""


def loadable(session: Session, layouts: Mapping[str, Layout]) -> list[tuple[Layout, Collection]]:
    """The collections that accept batches and whose records have write ids, which counters do not have."""
    signed = [layout for layout in layouts.values() if not isinstance(layout.model.record, CounterRecord)]
    found = [(layout, session.collection(layout)) for layout in signed]
    return [(layout, collection) for layout, collection in found if supports(collection, BULK_OPERATION)]


class Slots:
    """Logs that clients use one after another: one for each record of a batch, since a log has only one operation in flight.

    If the store claims atomic batches there is one log for the whole batch.
    """

    def __init__(self, recorder: Recorder, *, atomic: bool = False) -> None:
        self.atomic = atomic
        self.logs = [recorder.client() for _ in range(1 if atomic else BATCH)]
        self.sequence = 0
        """The number of the last batch, for write ids and keys that were never used before."""


class BulkLoad(Strategy):
    """Batches of new records."""

    refused: RequestOutcome = "unknown"
    """A part of a refused batch that is not atomic may still have been written."""
    most_refusals = 1

    def __init__(self, layouts: Mapping[str, Layout], slots: Slots, period: int, rng: random.Random) -> None:
        """`slots`: must not be in use by another running client."""
        self._layouts = layouts
        self._slots = slots
        self._period = period
        self._rng = rng

    def use(self, session: Session) -> None:
        """Open the collections that accept batches; at least one."""
        self._targets = loadable(session, self._layouts)

    def request(self) -> None:
        """Send one batch."""
        layout, collection = self._rng.choice(self._targets)
        self._slots.sequence += 1
        records = self._invoke_together(layout) if self._slots.atomic else self._invoke(layout)
        call(collection, layout, BULK_OPERATION, records)

    def end(self, outcome: RequestOutcome) -> None:
        """Record the outcome for each of its records."""
        for log in self._slots.logs:
            log.end(outcome)

    def _invoke(self, layout: Layout) -> dict[Key, Record]:
        records: dict[Key, Record] = {}
        for log in self._slots.logs:
            new_id = write_id(log.client, self._slots.sequence)
            where = key(layout, self._period, log.client + 1, _FIRST + self._slots.sequence)
            records[where] = recipe(layout.model).make(where, new_id)
            log.invoke("put", (layout.model.model, where), write_id=new_id)
        return records

    def _invoke_together(self, layout: Layout) -> dict[Key, Record]:
        log = self._slots.logs[0]
        new_id, first = write_id(log.client, self._slots.sequence), _FIRST + self._slots.sequence * BATCH
        keys = [key(layout, self._period, log.client + 1, first + member) for member in range(BATCH)]
        records = {where: recipe(layout.model).make(where, new_id) for where in keys}
        log.invoke_together([(layout.model.model, where) for where in keys], write_id=new_id)
        return records
