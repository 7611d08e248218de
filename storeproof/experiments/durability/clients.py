"""Clients that write under load and note everything they do.

Every client has a session and a log of its own. Some keys are new and private (each stands for one record at risk), some are
private and overwritten or deleted, some are shared by all clients, so that several writes of one key overlap.
A client ends at its first unknown outcome: its connection is gone. It never retries, and it never waits in a loop.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from storeproof.contract import Collection, Key, Layout, Refused, Session, Unknown, Unsupported, call, supports
from storeproof.experiments.durability.atomic_groups import Groups, Way
from storeproof.history import Action, ClientLog, Operation
from storeproof.records.self_verifying import recipe, write_id
from storeproof.spec.model import Counter

_SLOTS = 8
"""Keys that are written again and again: per client, and shared by all."""

_SHARED = 0

_ENOUGH_REFUSALS = 20
"""In a row; a store that refuses everything (its disk is full) is not asked on."""

_TOGETHER = 0.15
"""The share of groups, where the store has them."""

_KINDS = ("new", "overwrite", "delete", "shared", "shared delete")
_WEIGHTS = (50, 15, 10, 15, 10)


@dataclass
class Ended:
    """Why a client stopped, where it was not told to."""

    refusal: str = ""
    """The last refusal; also set when the client went on."""
    unknown: str = ""
    failure: Exception | None = None
    """What no adapter may raise."""


def key(layout: Layout, period: int, owner: int, number: int) -> Key:
    """A key that belongs to one period of load and one owner (0: shared; client + 1 otherwise)."""
    if layout.model.key == "integer":
        return ((period << 12 | owner) << 32) + number
    return f"p{period}:{'shared' if owner == _SHARED else f'c{owner - 1}'}:{number}"


def writable(session: Session, layout: Layout) -> Collection | None:
    """The collection, if the adapter can write and read it back there."""
    collection = session.collection(layout)
    writes = ("increment",) if isinstance(layout.model.record, Counter) else ("put", "delete")
    return collection if all(supports(collection, operation) for operation in ("get", *writes)) else None


class Client:
    """One client's stream of writes over all models."""

    def __init__(
        self,
        session: Session,
        layouts: Mapping[str, Layout],
        log: ClientLog,
        period: int,
        rng: random.Random,
        ways: frozenset[Way] = frozenset(),
    ) -> None:
        """`ways`: how the store claims to write several records together."""
        self.ended = Ended()
        self._session = session
        self._targets = [(layout, collection) for layout in layouts.values() if (collection := writable(session, layout)) is not None]
        self._groups = Groups(session, self._targets, ways, rng)
        self._log = log
        self._period = period
        self._rng = rng
        self._sequence = 0
        self._new = _SLOTS
        self._refusals = 0

    def run(self, go: threading.Event, stop: threading.Event) -> None:
        """Write from `go` until `stop`, or until the connection is lost; then end the session.

        In the client's own thread: some clients look for their server before they close, and seven others must not wait for that.
        """
        go.wait()
        while not stop.is_set() and self.step():
            pass
        self.close()

    def step(self) -> bool:
        """One operation; False if there is no point in another."""
        layout, collection = self._rng.choice(self._targets)
        try:
            if self._groups and self._rng.random() < _TOGETHER:
                self._write_together()
            elif isinstance(layout.model.record, Counter):
                self._increment(layout, collection)
            else:
                self._write(layout, collection)
        except (Refused, Unsupported) as reason:  # not every store subtracts
            self._log.end("refused")
            self.ended.refusal = str(reason)
            self._refusals += 1
            return self._refusals < _ENOUGH_REFUSALS
        except Unknown as reason:
            self._log.end("unknown")
            self.ended.unknown = str(reason)
            return False
        except Exception as reason:  # noqa: BLE001 - raised by whoever waits for this client: a thread cannot
            self._log.end("unknown")
            self.ended.failure = reason
            return False
        self._log.end("ok")
        self._refusals = 0
        return True

    @property
    def acknowledged(self) -> int:
        """How many of its operations were acknowledged."""
        return self._log.acknowledged

    def operations(self) -> list[Operation]:
        """What it did."""
        return self._log.operations()

    def close(self) -> None:
        """End the session."""
        self._session.close()

    def _increment(self, layout: Layout, collection: Collection) -> None:
        owner = self._rng.choice((_SHARED, _SHARED, self._log.client + 1))
        amount = self._rng.choice((-2, -1, 1, 2, 3, 5))
        where = key(layout, self._period, owner, self._rng.randrange(2))
        self._log.invoke("increment", layout.model.model, where, amount=amount)
        call(collection, layout, "increment", where, amount)

    def _write(self, layout: Layout, collection: Collection) -> None:
        kind = self._rng.choices(_KINDS, _WEIGHTS)[0]
        owner = _SHARED if kind.startswith("shared") else self._log.client + 1
        number = self._rng.randrange(_SLOTS)
        if kind == "new":
            number = self._new
            self._new += 1
        where = key(layout, self._period, owner, number)
        action: Action = "delete" if kind.endswith("delete") else "put"
        if action == "delete":
            self._log.invoke("delete", layout.model.model, where)
            call(collection, layout, "delete", where)
            return
        self._sequence += 1
        version = write_id(self._log.client, self._sequence)
        record = recipe(layout.model).make(where, version)
        self._log.invoke("put", layout.model.model, where, version=version)
        call(collection, layout, "put", where, record)

    def _write_together(self) -> None:
        way, targets, numbers = self._groups.choose()
        self._sequence += 1
        version = write_id(self._log.client, self._sequence)
        keys = [key(layout, self._period, self._log.client + 1, number) for (layout, _), number in zip(targets, numbers, strict=True)]
        places = [(layout.model.model, where) for (layout, _), where in zip(targets, keys, strict=True)]
        self._log.invoke_together(places, version=version)
        self._groups.write(way, targets, keys, version)
