"""Contended keys across a fault: clients read and write, the fault strikes, and other clients continue with the same keys."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from storeproof.check import MOST_CLIENTS
from storeproof.contract import Layout
from storeproof.errors import FaultMissed
from storeproof.experiments.client import Client, ClosedLoop, open_clients, under_load
from storeproof.experiments.contended_keys import SHARE, ContendedKey, ContendedKeys, KeyType, histories, read_and_go_on
from storeproof.experiments.fault_experiment import FaultExperiment, Subject, check_load, without_replies
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.experiments.store_files import StoreFiles
from storeproof.faults import Fault
from storeproof.history import Recorder
from storeproof.spec.scale import DurabilityScale

_KEYS = 2
"""Keys of each type; every round has new ones."""

_AFTER_STOP = 3
"""Operations that each client still starts once the fault is under way. A store that has lost its disk may continue to answer; each such
operation is unknown, and with many of them the search for an order would never end."""

_LONGEST = 10.0
"""Seconds after which the fault strikes even if there were too few operations, as on slow disks."""


class FaultLinearizability(FaultExperiment[int]):
    """One store, one fault, many rounds; a round is represented by its number, from 1."""

    def __init__(
        self, subject: Subject, fault: Fault, layouts: Mapping[KeyType, Layout], scale: DurabilityScale, summary: LinearizabilitySummary
    ) -> None:
        """`summary`: of earlier rounds, on another store; the rounds continue from there."""
        super().__init__(subject)
        self.summary = summary
        self._fault = fault
        self._layouts = layouts
        self._scale = scale
        self._recorder = Recorder()
        self._keys: list[ContendedKey] = []

    def setup(self) -> None:
        """Create the collections, and quiesce the store before its power is cut."""
        self._prepare()
        if self._fault.cuts_off:
            self.handle.quiesce()  # a power cut at the first start is another experiment

    def rounds(self) -> Iterator[int]:
        """The rounds that are not in the summary yet."""
        for number in range(self.summary.faults + 1, self._scale.rounds + 1):
            self.subject.progress(f"round {number}/{self._scale.rounds}")
            yield number

    @contextmanager
    def load(self) -> Iterator[None]:
        """As many clients as the check can handle, on new keys."""
        self.handle.wait_whole()
        self._files = StoreFiles(self.handle)
        self._recorder = Recorder()
        self._keys = [
            ContendedKey(type_, layout, f"round{self.round}:hot{number}")
            for type_, layout in self._layouts.items()
            for number in range(_KEYS)
        ]
        number, rng = min(MOST_CLIENTS, self._scale.clients), self.subject.rng
        clients = open_clients(number, lambda: self._client(SHARE))
        with under_load(clients) as load:
            wanted = rng.uniform(0.2, 0.7) * SHARE * len(self._keys) * number
            wait, deadline = rng.uniform(*self._scale.load_seconds), time.monotonic() + _LONGEST
            until = time.monotonic() + wait
            while self._recorder.ended < (wanted if time.monotonic() < until else 1) and time.monotonic() < deadline:
                time.sleep(0.001)
            check_load(self.handle, clients)
            self._files.look()
            load.stop.set()
            yield

    def fault(self) -> None:
        """Strike the guarantee's fault."""
        self._fault.strike(self.handle)
        self._reach = self._files.reach()

    def recover(self) -> None:
        """Start the store, and create the collections again: a store with its schema in memory has lost them."""
        self.handle.start()
        self._prepare()

    def audit(self) -> None:
        """Read every key, continue with more operations, and check every key."""
        read_and_go_on(self._keys, self._client)
        done = histories(self._recorder, self._keys)
        cut_off = [(self.struck, self.load_ended)] if self._fault.cuts_off else []
        self.summary.judge({key: without_replies(done[key], cut_off) for key in done}, self.load_ended)
        self.summary.faults = self.round
        written = {key for key, history in done.items() if any(each.outcome == "ok" and each.action != "get" for each in history)}
        if not self.summary.findings and (missed := self._reach.missed(len(written))):
            raise FaultMissed(missed)

    def _client(self, share: int, first: Sequence[ContendedKey] = ()) -> Client:
        rng = random.Random(self.subject.rng.getrandbits(64))
        strategy = ContendedKeys(self._recorder.client(), self._keys, share, rng, first)
        return Client(self.subject.open, strategy, ClosedLoop(after_stop=_AFTER_STOP))

    def _prepare(self) -> None:
        with self.subject.session() as session:
            for layout in self._layouts.values():
                session.collection(layout).prepare()
