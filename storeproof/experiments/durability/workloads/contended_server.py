"""Contended keys across a fault of one server: clients read and write, the fault strikes, and other clients continue with the same keys."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from storeproof.check import MOST_CLIENTS
from storeproof.contract import Layout
from storeproof.experiments.client import Client, ClosedLoop, open_clients
from storeproof.experiments.contended_keys import SHARE, ContendedKey, ContendedKeys, KeyType, keys_of_round, operations_on, read_and_go_on
from storeproof.experiments.durability.strikes.round_clients import RoundClients
from storeproof.experiments.durability.strikes.strike import Strike
from storeproof.experiments.durability.workloads.fault_workload import FaultWorkload
from storeproof.experiments.fault_experiment import Subject, check_load
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.history import Operation, Recorder
from storeproof.spec.scale import DurabilityScale

_AFTER_STOP = 3
"""Operations that each client still starts once the fault is under way. A store that has lost its disk may continue to answer; each such
operation is unknown, and with many of them the search for an order would never end."""

_LONGEST = 10.0
"""Seconds after which the fault strikes even if there were too few operations, as on slow disks."""


class ContendedServer(FaultWorkload[Strike]):
    """The keys of many rounds on one server."""

    summary: LinearizabilitySummary

    def __init__(
        self, subject: Subject, layouts: Mapping[KeyType, Layout], scale: DurabilityScale, summary: LinearizabilitySummary
    ) -> None:
        """`summary`: of earlier rounds, on another store; the rounds continue from there."""
        super().__init__(subject, layouts.values(), summary)
        self._layouts = layouts
        self._scale = scale
        self._recorder = Recorder()
        self._keys: list[ContendedKey] = []

    @contextmanager
    def clients(self, strike: Strike) -> Iterator[RoundClients]:  # noqa: ARG002 - it strikes where all are connected
        """As many clients as the check can handle, on new keys."""
        self._recorder = Recorder()
        self._keys = keys_of_round(self._layouts, self.summary.rounds + 1)
        number, rng = min(MOST_CLIENTS, self._scale.clients), self._subject.rng
        clients = open_clients(number, lambda: self._client(SHARE))
        with RoundClients() as running:
            running.add_until_strike(clients)
            wanted = rng.uniform(0.2, 0.7) * SHARE * len(self._keys) * number
            wait, deadline = rng.uniform(*self._scale.load_seconds), time.monotonic() + _LONGEST
            until = time.monotonic() + wait
            while self._recorder.ended < (wanted if time.monotonic() < until else 1) and time.monotonic() < deadline:
                time.sleep(0.001)
            check_load(self._subject.handle, clients)
            yield running

    def read_back(self, strike: Strike) -> Sequence[Operation]:  # noqa: ARG002 - its store answers
        """Read every key, and continue with more operations."""
        read_and_go_on(self._keys, self._client)
        return operations_on(self._recorder, self._keys)

    def _client(self, share: int, first: Sequence[ContendedKey] = ()) -> Client:
        rng = random.Random(self._subject.rng.getrandbits(64))
        strategy = ContendedKeys(self._recorder.client(), self._keys, share, rng, first)
        return Client(self._subject.open, strategy, ClosedLoop(after_stop=_AFTER_STOP))
