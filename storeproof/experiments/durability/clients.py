"""Opens the clients that write during a fault: all on the same collections, each with its own log and random generator."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from storeproof.contract import Layout, Session
from storeproof.experiments.client import Client, Pacing
from storeproof.experiments.durability.atomic_groups import AtomicWrite, Begun
from storeproof.experiments.durability.bulk_load import BulkLoad, Slots, loadable
from storeproof.experiments.durability.record_writes import RecordWrites
from storeproof.experiments.fault_experiment import Subject
from storeproof.history import ClientLog, Recorder


@dataclass(frozen=True)
class Clients:
    """The clients of one store."""

    subject: Subject
    layouts: Mapping[str, Layout]
    atomic: frozenset[AtomicWrite] = frozenset()
    """How the store claims to write several records together."""
    recorder: Recorder = field(default_factory=Recorder)
    expiring: bool = False
    """Whether some records get a time to live."""
    begun: Begun = field(default_factory=Begun)
    """The groups of records that they began."""

    def writer(
        self,
        period: int,
        log: ClientLog | None = None,
        *,
        connect: Callable[[], Session] | None = None,
        pacing: Pacing | None = None,
    ) -> Client:
        """A client that writes single records.

        Args:
            log: a new one by default.
            connect: opens its sessions; by default at the store's current address.
            pacing: a closed loop by default.
        """
        log = log or self.recorder.client()
        strategy = RecordWrites(self.layouts, log, period, self._random(), self.atomic, expiring=self.expiring, begun=self.begun)
        return Client(connect or self.subject.open, strategy, pacing)

    def loader(self, period: int, slots: Slots | None = None) -> Client:
        """A client that writes batches, if `can_load`. `slots`: new ones by default."""
        return Client(self.subject.open, BulkLoad(self.layouts, slots or self.slots(), period, self._random()))

    def slots(self) -> Slots:
        """Logs that loaders can use one after another."""
        return Slots(self.recorder, atomic="batch" in self.atomic)

    def can_load(self, session: Session) -> bool:
        """Whether any collection accepts batches."""
        return bool(loadable(session, self.layouts))

    def prepare(self, session: Session | None = None) -> None:
        """Create the collections, with a new session by default."""
        if session is None:
            with self.subject.session() as session:
                self.prepare(session)
            return
        for layout in self.layouts.values():
            session.collection(layout).prepare()

    def _random(self) -> random.Random:
        return random.Random(self.subject.rng.getrandbits(64))
