"""A client that loads records in batches, each record noted as an operation of its own: a batch need not be atomic."""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping
from typing import Final

from storeproof.contract import Collection, Key, Layout, Record, Refused, Session, Unknown, Unsupported, call, supports
from storeproof.experiments.durability.clients import Ended, key
from storeproof.history import Ending, Recorder
from storeproof.records.self_verifying import recipe, write_id
from storeproof.spec.model import Counter

BULK_OPERATION: Final = "put_many"

_BATCH: Final = 50
"""Records: more than the smallest of stores' own buffers, and few enough that several batches fit into any round."""

_OTHERS: Final = 2**31
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
        self.logs = [recorder.client() for _ in range(1 if atomic else _BATCH)]
        self.sequence = 0
        """Of the last batch: it makes write ids and keys that were never used before."""


class BulkClient:
    """One client's stream of batches. It ends at its first unknown outcome, and never retries."""

    def __init__(self, session: Session, layouts: Mapping[str, Layout], slots: Slots, period: int, rng: random.Random) -> None:
        """`slots`: no other client that still runs has them."""
        self.ended = Ended()
        self.batches = 0
        """How many were acknowledged."""
        self._session = session
        self._targets = loadable(session, layouts)
        self._slots = slots
        self._period = period
        self._rng = rng

    @property
    def able(self) -> bool:
        """Whether any of the collections takes batches."""
        return bool(self._targets)

    @property
    def acknowledged(self) -> int:
        """How many records were acknowledged."""
        return self.batches * _BATCH

    def run(self, go: threading.Event, stop: threading.Event) -> None:
        """Load from `go` until `stop`, or until the connection is lost; then end the session."""
        go.wait()
        while not stop.is_set() and self.step():
            pass
        self.close()

    def step(self) -> bool:
        """One batch; False if there is no point in another."""
        layout, collection = self._rng.choice(self._targets)
        self._slots.sequence += 1
        records = self._invoke_together(layout) if self._slots.atomic else self._invoke(layout)
        try:
            call(collection, layout, BULK_OPERATION, records)
        except (Refused, Unsupported) as reason:
            # Of a batch that is not atomic a part may be there all the same.
            self._end("unknown")
            self.ended.refusal = str(reason)
            return False
        except Unknown as reason:
            self._end("unknown")
            self.ended.unknown = str(reason)
            return False
        except Exception as reason:  # noqa: BLE001 - raised by whoever waits for this client: a thread cannot
            self._end("unknown")
            self.ended.failure = reason
            return False
        self._end("ok")
        self.batches += 1
        return True

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def _invoke(self, layout: Layout) -> dict[Key, Record]:
        records: dict[Key, Record] = {}
        for log in self._slots.logs:
            version = write_id(log.client, self._slots.sequence)
            where = key(layout, self._period, log.client + 1, _OTHERS + self._slots.sequence)
            records[where] = recipe(layout.model).make(where, version)
            log.invoke("put", layout.model.model, where, version=version)
        return records

    def _invoke_together(self, layout: Layout) -> dict[Key, Record]:
        log = self._slots.logs[0]
        version, first = write_id(log.client, self._slots.sequence), _OTHERS + self._slots.sequence * _BATCH
        places = [key(layout, self._period, log.client + 1, first + member) for member in range(_BATCH)]
        records = {where: recipe(layout.model).make(where, version) for where in places}
        log.invoke_together([(layout.model.model, where) for where in places], version=version)
        return records

    def _end(self, outcome: Ending) -> None:
        for log in self._slots.logs:
            log.end(outcome)
