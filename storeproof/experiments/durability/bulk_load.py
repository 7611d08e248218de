"""A client that loads records in batches, each record noted as an operation of its own: a batch need not be atomic."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

from storeproof.contract import Collection, Key, Layout, Record, Session, call, supports
from storeproof.experiments.client import Strategy
from storeproof.experiments.durability.record_writes import key
from storeproof.history import Ending, Recorder
from storeproof.records.self_verifying import recipe, write_id
from storeproof.spec.model import Counter

BULK_OPERATION: Final = "put_many"

BATCH: Final = 50
"""Records: more than the smallest of stores' own buffers, and few enough that several batches fit into any round."""

_FIRST: Final = 2**31
"""Where the numbers of its keys begin: above those of clients that write one by one in the same period."""


def loadable(session: Session, layouts: Mapping[str, Layout]) -> list[tuple[Layout, Collection]]:
    """The collections that take batches of records which can be told apart; counters cannot."""
    signed = [layout for layout in layouts.values() if not isinstance(layout.model.record, Counter)]
    found = [(layout, session.collection(layout)) for layout in signed]
    return [(layout, collection) for layout, collection in found if supports(collection, BULK_OPERATION)]


class Slots:
    """The logs of one client after another: one for each record of a batch, since a log has one operation in flight.

    Where batches are claimed to be atomic there is one log: all of a batch is there, or nothing of it.
    """

    def __init__(self, recorder: Recorder, *, atomic: bool = False) -> None:
        self.atomic = atomic
        self.logs = [recorder.client() for _ in range(1 if atomic else BATCH)]
        self.sequence = 0
        """Of the last batch: it makes write ids and keys that were never used before."""


class BulkLoad(Strategy):
    """Batches of new records."""

    refused: Ending = "unknown"
    """Of a batch that is not atomic a part may be there all the same."""
    most_refusals = 1

    def __init__(self, layouts: Mapping[str, Layout], slots: Slots, period: int, rng: random.Random) -> None:
        """`slots`: no other client that still runs has them."""
        self._layouts = layouts
        self._slots = slots
        self._period = period
        self._rng = rng

    def use(self, session: Session) -> None:
        """The collections that take batches; at least one."""
        self._targets = loadable(session, self._layouts)

    def request(self) -> None:
        """One batch."""
        layout, collection = self._rng.choice(self._targets)
        self._slots.sequence += 1
        records = self._invoke_together(layout) if self._slots.atomic else self._invoke(layout)
        call(collection, layout, BULK_OPERATION, records)

    def end(self, outcome: Ending) -> None:
        """Each of its records ended so."""
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
