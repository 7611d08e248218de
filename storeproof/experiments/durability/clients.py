"""Opens the clients that write under a fault: all on the same collections, each with a log and a random source of its own."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from storeproof.contract import Layout, Session
from storeproof.experiments.client import Client
from storeproof.experiments.durability.atomic_groups import AtomicWrite
from storeproof.experiments.durability.bulk_load import BulkLoad, Slots, loadable
from storeproof.experiments.durability.record_writes import RecordWrites
from storeproof.experiments.fault_experiment import Subject
from storeproof.history import ClientLog, Recorder


@dataclass(frozen=True)
class Clients:
    """For one store."""

    subject: Subject
    layouts: Mapping[str, Layout]
    atomic: frozenset[AtomicWrite] = frozenset()
    """How the store claims to write several records together."""
    recorder: Recorder = field(default_factory=Recorder)

    def writer(self, period: int, log: ClientLog | None = None) -> Client:
        """One that writes records one by one. `log`: its own if there is none."""
        strategy = RecordWrites(self.layouts, log or self.recorder.client(), period, self._random(), self.atomic)
        return Client(self.subject.open, strategy)

    def loader(self, period: int, slots: Slots | None = None) -> Client:
        """One that loads batches, where `can_load`. `slots`: its own if there are none."""
        return Client(self.subject.open, BulkLoad(self.layouts, slots or self.slots(), period, self._random()))

    def slots(self) -> Slots:
        """Logs for one loader after another."""
        return Slots(self.recorder, atomic="batch" in self.atomic)

    def can_load(self, session: Session) -> bool:
        """Whether any collection takes batches."""
        return bool(loadable(session, self.layouts))

    def prepare(self, session: Session | None = None) -> None:
        """Make the collections, through a session of its own if none is given."""
        if session is None:
            with self.subject.session() as session:
                self.prepare(session)
            return
        for layout in self.layouts.values():
            session.collection(layout).prepare()

    def _random(self) -> random.Random:
        return random.Random(self.subject.rng.getrandbits(64))
