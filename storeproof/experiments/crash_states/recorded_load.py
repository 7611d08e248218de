"""The requests that are recorded: writes and deletes, groups, a batch, times to live, and a rewrite of the store's own files.

Several clients send them at the same time. The mark of a request precedes its changes, and that of a reply follows those it promises, so
what must be there at a place among the changes is what was marked as acknowledged before it, whatever other clients did meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from storeproof.contract import Layout, Maintenance, Refused, Unsupported
from storeproof.disk.recording import RecordedChanges, RecordingDisk
from storeproof.experiments.client import Client, open_clients, raise_failures, raise_unknown
from storeproof.experiments.client_threads import together
from storeproof.experiments.durability.atomic_groups import AtomicWrite
from storeproof.experiments.durability.clients import Clients
from storeproof.experiments.fault_experiment import Subject
from storeproof.history import Operation, Recorder
from storeproof.spec.model import Value
from storeproof.spec.sizes import LEAST, Sizes
from storeproof.spec.variation import Variation

BEFORE: Final = 8
"""Requests before the recording, so that there is something to overwrite and delete."""
_PERIOD: Final = 1
_CLIENTS: Final = 3
_SIZES: Final = Variation(sizes=Sizes(histogram={LEAST: 4, 100: 4, 600: 4, 5_000: 3, 70_000: 1}))
"""Of values: within a sector, a page, several pages, and more than 64 KiB."""


def of_all_sizes(layout: Layout) -> Layout:
    """The same collection, with values of very different sizes."""
    return replace(layout, model=_SIZES.applied(layout.model)) if isinstance(layout.model.record, Value) else layout


class DiskClock:
    """The moments of a history, which the disk marks among its changes: the n-th is mark n."""

    def __init__(self, disk: RecordingDisk) -> None:
        self._disk = disk
        self._ticking = threading.Lock()
        self._now = 0

    def __call__(self) -> int:
        with self._ticking:
            self._now += 1
            self._disk.mark(self._now)
            return self._now


@dataclass(frozen=True)
class RecordedLoad:
    """What was sent, and what the store did to its disk."""

    operations: Sequence[Operation]
    """In order of invocation. Times are numbers of marks."""
    recorder: Recorder
    """Of them; later clients have later numbers."""
    clients: int
    """How many sent them."""
    recording: RecordedChanges


def record_load(
    subject: Subject,
    disk: RecordingDisk,
    layouts: Mapping[str, Layout],
    atomic: frozenset[AtomicWrite],
    requests: int,
    *,
    expiring: bool = False,
) -> RecordedLoad:
    """Send requests to a store, and record its disk.

    Args:
        subject: the store.
        disk: that it is on.
        layouts: the collections, by model.
        atomic: how the store claims to write several records together.
        requests: how many.
        expiring: whether some records get a time to live.

    Raises:
        Refused, Unknown, Breach: it does not answer as it should.
        NotAvailable: it writes more than can be recorded.
    """
    clients = Clients(subject, layouts, atomic, Recorder(DiskClock(disk)), expiring)
    clients.prepare()
    with closing(LoadClients(clients, _CLIENTS)) as load:
        send(load.writer, BEFORE)
        load.rewrite()
        disk.record()
        load.send_together(requests)
    return RecordedLoad(clients.recorder.operations(), clients.recorder, clients.recorder.clients, disk.recorded())


class LoadClients:
    """The clients that send it, on collections that are there."""

    def __init__(self, clients: Clients, writers: int = 1) -> None:
        self._session = clients.subject.open()
        self._loader = clients.loader(_PERIOD) if clients.can_load(self._session) else None
        self._writers = open_clients(writers, lambda: clients.writer(_PERIOD))
        self.writer = self._writers[0]

    def send(
        self, requests: int, send: Callable[[Client, int], None], passed: tuple[type[Exception], ...] = (Refused, Unsupported)
    ) -> None:
        """Half of the requests, one batch, a rewrite of the store's own files, the other half: one after another.

        Args:
            requests: how many the writer sends.
            send: sends some of one client.
            passed: what may come of the rewrite. Whether the store can do it is asked elsewhere.
        """
        send(self.writer, requests // 2)
        if self._loader is not None:
            send(self._loader, 1)
        self.rewrite(passed)
        send(self.writer, requests - requests // 2)

    def send_together(self, requests: int) -> None:
        """The same from all writers at the same time: half of the requests beside the batch, the other half during the rewrite."""

        def load() -> None:
            if self._loader is not None:
                send(self._loader, 1)

        for number, beside in ((requests // 2, load), (requests - requests // 2, self.rewrite)):
            shares = [len(range(place, number, len(self._writers))) for place in range(len(self._writers))]
            works: list[Callable[[], None]] = [beside]
            together(works + [partial(send, *each) for each in zip(self._writers, shares, strict=True)])

    def rewrite(self, passed: tuple[type[Exception], ...] = (Refused, Unsupported)) -> None:
        """A rewrite of the store's own files, if it has one; a checkpoint, so that pages which it overwrites later may be torn."""
        if isinstance(self._session, Maintenance):
            with suppress(*passed):
                self._session.compact()

    def close(self) -> None:
        for client in (*self._writers, *filter(None, [self._loader])):
            client.close()
        self._session.close()


def send(client: Client, requests: int) -> None:
    """Send some. Raises `Unknown`, or what broke the contract."""
    for _ in range(requests):
        if not client.step():
            break
    raise_failures([client])
    raise_unknown([client])
