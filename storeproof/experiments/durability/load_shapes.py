"""The load shapes: what clients do when a fault strikes.

*Stream*: concurrent clients, the fault at a random moment. *Burst*: a few dozen acknowledged writes, then the fault right after the last
acknowledgement, because a long stream may happen to be synced just before the fault. *Bulk*: the fault strikes in a batch.
*Compaction*: the fault strikes while the store rewrites its files. A shape for which the store has no operation or command is left out,
as is checked once, before the first round.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from statistics import median
from typing import Final

from storeproof.contract import Maintenance, Refused, Session, Unknown, Unsupported, why_not
from storeproof.experiments.client import Client, open_clients, raise_failures, under_load
from storeproof.experiments.client_threads import ClientThread, Running, wait_for, wait_until
from storeproof.experiments.durability.bulk_load import BULK_OPERATION, Slots
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.durability.durability_summary import DurabilitySummary
from storeproof.experiments.fault_experiment import check_load
from storeproof.halt import HANG_SECONDS
from storeproof.spec.guarantee import LoadShape
from storeproof.spec.scale import DurabilityScale

_BURST: Final = 50
_BURST_SECONDS: Final = 5.0
"""A store whose syncs take long gets fewer."""

_IDLE_SECONDS: Final = 10.0
"""How long the next acknowledgement may take."""
_WAIT_SECONDS: Final = 60.0
"""How long all of them may take: a busy machine answers slowly, and a round with a handful of writes at risk shows little."""
_LOOK_SECONDS: Final = 0.001

_STREAM: Final = 100
"""Acknowledged writes of a stream before the fault, also on a slow disk: among only a handful there may be no loss by chance."""

_LOADERS: Final = 2
_BATCHES = (2, 12)
"""The number of acknowledged batches before the one that the fault strikes in is drawn from this range."""
_LOAD_SECONDS: Final = 10.0
"""A store whose batches take long gets fewer."""

_FILLS: Final = (10, 20, 40)
"""Batches before a compaction, which an empty store would finish at once: the first of these numbers that makes one last `_LASTS`."""
_LASTS: Final = 0.005
"""Seconds. The moment of the fault is drawn from the time that a compaction takes, and is met to a millisecond."""

_WRITERS: Final = 4
"""Clients that write during a compaction."""


class LoadShapes:
    """The load shapes for one store; `unsupported_because` says which are not possible."""

    def __init__(self, clients: Clients, scale: DurabilityScale, summary: DurabilitySummary) -> None:
        self._handle = clients.subject.handle
        self._subject = clients.subject
        self._clients = clients
        self._recorder = clients.recorder
        self._scale = scale
        self._summary = summary
        self._slots: list[Slots] = []
        self._batches = _FILLS[0]
        self._took: list[float] = []
        """Duration of each finished compaction, in seconds."""

    def unsupported_because(self, session: Session, shape: LoadShape) -> str | None:
        """Why a load shape is not possible, or None. Asks a prepared store; for `compaction` it measures how long some take."""
        if shape == "bulk" and not self._clients.can_load(session):
            reasons = {why_not(session.collection(layout), "BatchWrite") for layout in self._clients.layouts.values()}
            return f"no {BULK_OPERATION}: {'; '.join(sorted(reasons))}"
        if shape != "compaction":
            return None
        if not isinstance(session, Maintenance):
            return why_not(session, "Maintenance")
        try:
            for self._batches in _FILLS:
                self._fill(0)
                self._took = [self._compact(session)]
                if self._took[0] >= _LASTS:
                    break
        except (Refused, Unsupported) as reason:
            return str(reason)
        return None

    def load(self, shape: LoadShape, period: int) -> AbstractContextManager[None]:
        """Clients that write until the end of the block; the block is entered at the moment of the fault."""
        return {"stream": self._stream, "burst": self._burst, "bulk": self._bulk, "compaction": self._compaction}[shape](period)

    @contextmanager
    def _stream(self, period: int) -> Iterator[None]:
        clients = open_clients(self._scale.clients, lambda: self._clients.writer(period))
        with under_load(clients) as load:
            self._wait_for_load(load, _STREAM)
            time.sleep(self._subject.rng.uniform(*self._scale.load_seconds))
            check_load(self._handle, clients)
            yield

    @contextmanager
    def _burst(self, period: int) -> Iterator[None]:
        """One client, as fast as it can."""
        client = self._clients.writer(period)
        try:
            deadline = time.monotonic() + _BURST_SECONDS
            goes_on = True
            for _ in range(_BURST):
                goes_on = client.step()
                if not goes_on or time.monotonic() > deadline:
                    break
            if not goes_on:  # otherwise nothing may come between the last acknowledgement and the fault
                check_load(self._handle, [client])
            yield
        finally:
            client.close()
        raise_failures([client])

    @contextmanager
    def _bulk(self, period: int) -> Iterator[None]:
        """Several clients load batches; the fault strikes within one of them, after some that were acknowledged."""
        loaders = [self._loader(period, number) for number in range(_LOADERS)]
        with self._under_load(loaders) as load:
            before, began = self._recorder.acknowledged, time.monotonic()
            wanted = self._subject.rng.randint(*_BATCHES)
            wait_until(lambda: sum(each.acknowledged for each in loaders) >= wanted or not load.alive, _LOAD_SECONDS, _LOOK_SECONDS)
            if self._recorder.acknowledged > before:
                time.sleep(self._subject.rng.uniform(0, (time.monotonic() - began) / wanted * _LOADERS))
            check_load(self._handle, loaders)
            yield

    @contextmanager
    def _compaction(self, period: int) -> Iterator[None]:
        """Clients write while the store rewrites its files on command; the fault strikes at a random moment of that."""
        self._fill(period)
        session = self._subject.open()
        writers = [self._clients.writer(period) for _ in range(_WRITERS)]

        def compact() -> None:
            with suppress(Refused, Unsupported, Unknown):  # the fault came before the reply; what the clients wrote is what counts
                self._took.append(self._compact(session))

        compacting = ClientThread(compact, "storeproof-compaction")
        try:
            with self._under_load(writers) as load:
                self._wait_for_load(load, 1)
                moment = self._subject.rng.uniform(0, median(self._took))
                compacting.start()
                compacting.join(moment)
                self._summary.amid += compacting.is_alive()
                check_load(self._handle, writers)
                yield
        finally:
            ended = wait_for([compacting], HANG_SECONDS)
            session.close()
        if ended:
            compacting.result()

    def _wait_for_load(self, load: Running, writes: int) -> None:
        """Wait until `writes` more are acknowledged: on a slow disk, a fault before the first acknowledgement would show nothing."""
        found = self._recorder.acknowledged
        wanted, heard = found + writes, time.monotonic()
        deadline = heard + _WAIT_SECONDS
        while found < wanted and load.alive and time.monotonic() < min(heard + _IDLE_SECONDS, deadline):
            time.sleep(_LOOK_SECONDS)
            if self._recorder.acknowledged > found:
                found, heard = self._recorder.acknowledged, time.monotonic()

    def _compact(self, session: Session) -> float:
        """Rewrite the files; how many seconds it took."""
        assert isinstance(session, Maintenance)
        began = time.monotonic()
        self._summary.command = session.compact()
        return time.monotonic() - began

    def _fill(self, period: int) -> None:
        """Give the store something to rewrite."""
        with self._subject.session() as session:
            can_load = self._clients.can_load(session)
        filler = self._loader(period, 0) if can_load else self._clients.writer(period)
        try:
            deadline = time.monotonic() + _LOAD_SECONDS
            for _ in range(self._batches):
                if not filler.step() or time.monotonic() > deadline:
                    break
        finally:
            filler.close()
        raise_failures([filler])

    def _loader(self, period: int, number: int) -> Client:
        while len(self._slots) <= number:
            self._slots.append(self._clients.slots())
        return self._clients.loader(period, self._slots[number])

    @contextmanager
    def _under_load(self, clients: Sequence[Client]) -> Iterator[Running]:
        """Drop the slots if a client may still be writing into them."""
        load: Running | None = None
        try:
            with under_load(clients) as load:
                yield load
        finally:
            if load is not None and load.alive:
                self._slots = []
