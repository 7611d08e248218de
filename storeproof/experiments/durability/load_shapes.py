"""Two shapes of load beside burst and stream: a bulk load that the fault cuts in the middle, and a store that writes its files anew.

Each answers the moment of the fault, as the others do. What a store has no operation or command for it cannot be tried with: that is
asked once, before the first round, and said in the detail.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from time import monotonic_ns

from storeproof.contract import Layout, Maintenance, Refused, Session, Unknown, Unsupported, why_not
from storeproof.experiments.client_threads import HANG_SECONDS, Running, running
from storeproof.experiments.durability.atomic_groups import Way
from storeproof.experiments.durability.bulk_load import BULK_OPERATION, BulkClient, Slots, loadable
from storeproof.experiments.durability.clients import Client
from storeproof.experiments.durability.durability_summary import Tally
from storeproof.experiments.durability.writers import Writer, raise_failures
from storeproof.faults import Fault
from storeproof.history import Recorder
from storeproof.launch.handle import Handle
from storeproof.spec.guarantee import LoadShape

_LOADERS = 2
_BATCHES = (2, 12)
"""So many acknowledged batches, drawn anew each time, come before the one that the fault strikes in."""
_LOAD_SECONDS = 10.0
"""A store whose batches take long gets fewer."""

_FILL = 40
"""Batches before a compaction: a store with nothing in it is done at once."""

_WRITERS = 4
"""Clients that write during a compaction."""


def still_there(handle: Handle, clients: Sequence[Writer]) -> None:
    """Whether the fault strikes a store that runs and is written to.

    Raises:
        StoreDied: it ended by itself.
        MachineFailed: it was killed from outside.
        Unknown: no client has a connection left.
    """
    handle.check_alive()
    if all(client.ended.unknown for client in clients):
        raise Unknown(f"all clients lost their connection before the fault: {clients[0].ended.unknown}")


class FurtherShapes:
    """What one store is tried with. `lacking` says what it has not."""

    def __init__(
        self,
        handle: Handle,
        fault: Fault,
        layouts: Mapping[str, Layout],
        *,
        connect: Callable[[Handle], Session],
        recorder: Recorder,
        rng: random.Random,
        tally: Tally,
        ways: frozenset[Way] = frozenset(),
    ) -> None:
        self._handle = handle
        self._fault = fault
        self._layouts = layouts
        self._ways = ways
        self._connect = connect
        self._recorder = recorder
        self._rng = rng
        self._tally = tally
        self._slots: list[Slots] = []
        self._took: list[float] = []
        """Seconds of each compaction that came to its end."""

    def lacking(self, session: Session, shape: LoadShape) -> str | None:
        """Why a shape cannot be tried, or None. A prepared store is asked; one compaction is done, and its time taken."""
        if shape == "bulk" and not loadable(session, self._layouts):
            reasons = {why_not(session.collection(layout), "BatchWrite") for layout in self._layouts.values()}
            return f"no {BULK_OPERATION}: {'; '.join(sorted(reasons))}"
        if shape != "compaction":
            return None
        if not isinstance(session, Maintenance):
            return why_not(session, "Maintenance")
        try:
            self._fill(0)
            self._compact(session)
        except (Refused, Unsupported) as reason:
            return str(reason)
        return None

    def bulk(self, period: int) -> int:
        """Several clients load batches; the fault strikes within one of them, after some that were acknowledged."""
        loaders = [self._loader(period, number) for number in range(_LOADERS)]
        with self._running(loaders):
            before, deadline, began = self._recorder.acknowledged, time.monotonic() + _LOAD_SECONDS, time.monotonic()
            wanted = self._rng.randint(*_BATCHES)
            while sum(each.batches for each in loaders) < wanted and time.monotonic() < deadline and not all(map(_silent, loaders)):
                time.sleep(0.001)
            if self._recorder.acknowledged > before:
                time.sleep(self._rng.uniform(0, (time.monotonic() - began) / wanted * _LOADERS))
            still_there(self._handle, loaders)
            struck = monotonic_ns()
            self._fault.strike(self._handle)
        raise_failures(loaders)
        return struck

    def compaction(self, period: int) -> int:
        """Clients write, the store is told to write its files anew, and the fault strikes at a random moment of that."""
        self._fill(period)
        session = self._connect(self._handle)
        writers = [self._writer(period) for _ in range(_WRITERS)]
        failures: list[BaseException] = []

        def compact() -> None:
            try:
                self._compact(session)
            except (Refused, Unsupported, Unknown):
                pass  # the fault came before the reply; what the clients wrote is what counts
            except BaseException as reason:  # noqa: BLE001 - raised below: a thread cannot
                failures.append(reason)

        compacting = threading.Thread(target=compact, name="storeproof-compaction", daemon=True)
        try:
            with self._running(writers):
                before, deadline = self._recorder.acknowledged, time.monotonic() + _LOAD_SECONDS
                while self._recorder.acknowledged == before and time.monotonic() < deadline and not all(map(_silent, writers)):
                    time.sleep(0.001)
                moment = self._rng.uniform(0, median(self._took))
                compacting.start()
                compacting.join(moment)
                self._tally.amid += compacting.is_alive()
                still_there(self._handle, writers)
                struck = monotonic_ns()
                self._fault.strike(self._handle)
        finally:
            if compacting.ident is not None:
                compacting.join(HANG_SECONDS)
            session.close()
        raise_failures(writers)
        if failures:
            raise failures[0]
        return struck

    def _compact(self, session: Session) -> None:
        assert isinstance(session, Maintenance)
        began = time.monotonic()
        self._tally.command = session.compact()
        self._took.append(time.monotonic() - began)

    def _fill(self, period: int) -> None:
        """Give the store something to write anew."""
        loader: BulkClient | Client
        loader = self._loader(period, 0)
        if not loader.able:
            loader.close()
            loader = self._writer(period)
        try:
            deadline = time.monotonic() + _LOAD_SECONDS
            for _ in range(_FILL):
                if not loader.step() or time.monotonic() > deadline:
                    break
        finally:
            loader.close()
        raise_failures([loader])

    def _loader(self, period: int, number: int) -> BulkClient:
        while len(self._slots) <= number:
            self._slots.append(Slots(self._recorder, atomic="batch" in self._ways))
        return BulkClient(self._connect(self._handle), self._layouts, self._slots[number], period, self._drawn())

    def _writer(self, period: int) -> Client:
        return Client(self._connect(self._handle), self._layouts, self._recorder.client(), period, self._drawn(), self._ways)

    def _drawn(self) -> random.Random:
        return random.Random(self._rng.getrandbits(64))

    @contextmanager
    def _running(self, clients: Sequence[Writer]) -> Iterator[None]:
        """Let clients write until the fault has struck."""
        load: Running | None = None
        try:
            with running([client.run for client in clients]) as load:
                yield
        finally:
            if load is not None and load.alive:
                self._slots = []  # it may still be writing into them


def _silent(client: Writer) -> bool:
    return bool(client.ended.unknown or client.ended.failure)
