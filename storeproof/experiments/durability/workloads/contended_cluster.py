"""Contended keys through a fault of a cluster: on both sides of a partition, and at a primary that was replaced and does not know it.

Three sets of clients use the same keys:

* tied to the struck primary, before and during the fault, and on after it has ended;
* also tied, connected before the fault; they begin when the new primary has acknowledged writes, with a read of each key: sent to a
  paused primary it waits in the socket until that goes on, and is then answered from before the failover;
* at the primary that there is: before the fault the same, after the failover the new one.

When the cluster is whole again, other clients read every key, and go on with it.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from storeproof.contract import Layout, Session
from storeproof.experiments.client import Client, open_clients
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.contended_keys import ContendedKey, ContendedKeys, KeyType, keys_of_round, operations_on, read_and_go_on
from storeproof.experiments.durability.strikes.round_clients import Paced, RoundClients
from storeproof.experiments.durability.strikes.strike import Strike
from storeproof.experiments.durability.workloads.fault_workload import FaultWorkload
from storeproof.experiments.fault_experiment import Subject, check_load
from storeproof.experiments.linearizability import LinearizabilitySummary
from storeproof.history import Action, Operation, Recorder
from storeproof.spec.scale import DurabilityScale

_CLIENTS: Final = 2
"""In each of the sets but the late one: more operations at a time make the search longer."""
_LATE_CLIENTS: Final = 4
_TIED, _LATE, _FOLLOWING, _NEXT = 180, 35, 90, 120
"""The most operations of a client of each set on each key; together they are as many as the check takes."""
_MOST_UNKNOWN: Final = 2
"""Writes without an answer of each client: a primary that was replaced answers each of hundreds by "it is left open"."""
_BEFORE: Final = 100
"""Acknowledged operations before the fault."""
_REPLACED: Final = 50
"""Acknowledged operations at the new primary before the late clients begin."""
_WAIT_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.02


class ContendedCluster(FaultWorkload[Strike]):
    """The keys of many rounds on a cluster."""

    summary: LinearizabilitySummary

    def __init__(
        self, subject: Subject, layouts: Mapping[KeyType, Layout], scale: DurabilityScale, summary: LinearizabilitySummary
    ) -> None:
        """`summary`: of earlier rounds, on another cluster; the rounds continue from there."""
        super().__init__(subject, layouts.values(), summary)
        self._layouts = layouts
        self._scale = scale
        self._recorder = Recorder()
        self._keys: list[ContendedKey] = []
        self._late: list[Client] = []

    @contextmanager
    def clients(self, strike: Strike) -> Iterator[RoundClients]:
        """Clients on new keys, tied to the primary and not."""
        self._recorder = Recorder()
        self._keys = keys_of_round(self._layouts, self.summary.rounds + 1)
        connect = strike.at(strike.struck_node)
        with RoundClients(first=lambda node: self._first(strike.at(node)), go_on=self._go_on) as running:
            first = itertools.cycle(self._keys[number:] + self._keys[:number] for number in range(len(self._keys)))
            self._late = open_clients(_LATE_CLIENTS, lambda: self._client(connect, _LATE, next(first)))
            running.at_the_end(self._close_late)
            tied = open_clients(_CLIENTS, lambda: self._client(connect, _TIED))
            running.add(tied)
            following = open_clients(_CLIENTS, lambda: self._client(self._subject.open, _FOLLOWING))
            running.follow(following)
            wait_until(lambda: self._recorder.acknowledged >= _BEFORE, _WAIT_SECONDS, _LOOK_SECONDS)
            time.sleep(self._subject.rng.uniform(*self._scale.load_seconds))
            check_load(self._subject.handle, [*tied, *following])
            yield running

    def read_back(self, strike: Strike) -> Sequence[Operation]:  # noqa: ARG002 - its store is whole
        """Read every key, and continue with more operations."""
        read_and_go_on(self._keys, partial(self._client, self._subject.open))
        return operations_on(self._recorder, self._keys)

    def _go_on(self, running: RoundClients, primary: str) -> None:  # noqa: ARG002 - its clients ask for it
        """At this primary, and late at the old one."""
        clients = open_clients(_CLIENTS, lambda: self._client(self._subject.open, _NEXT))
        running.add(clients)
        wait_until(lambda: sum(client.acknowledged for client in clients) >= _REPLACED, _WAIT_SECONDS, _LOOK_SECONDS)
        late, self._late = self._late, []
        running.add(late)

    def _first(self, connect: Callable[[], Session]) -> Client:
        """A client of a key that is not judged: it may have to try many times."""
        type_, layout = next(iter(self._layouts.items()))
        writes: Action = "put" if "put" in type_.weights else "increment"
        key = ContendedKey(KeyType(type_.name, type_.model, {writes: 1}), layout, f"round{self.summary.rounds + 1}:first")
        return Client(connect, ContendedKeys(self._recorder.client(), [key], 1, self._random()))

    def _client(self, connect: Callable[[], Session], share: int, first: Sequence[ContendedKey] = ()) -> Client:
        strategy = ContendedKeys(self._recorder.client(), self._keys, share, self._random(), first, _MOST_UNKNOWN)
        return Client(connect, strategy, Paced())

    def _close_late(self) -> None:
        """Those that never began."""
        for client in self._late:
            client.close()

    def _random(self) -> random.Random:
        return random.Random(self._subject.rng.getrandbits(64))
