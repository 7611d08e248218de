"""What each client sees of its own writes, and of what it has read before, through a fault.

Each client writes a key of its own. On a cluster some read where they write, at the primary that there is; some read at another node
too, as a driver does that spreads reads; and some of these are tied to the node that the fault strikes. On a single server all read there,
and go on with what they have seen when it is back.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from storeproof.contract import Layout, Session
from storeproof.experiments.client import Client, open_clients
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.durability.clusters.pace import MOST_REQUESTS, pause_of
from storeproof.experiments.durability.strikes.round_clients import Paced, RoundClients
from storeproof.experiments.durability.strikes.strike import Strike
from storeproof.experiments.durability.workloads.fault_workload import FaultWorkload
from storeproof.experiments.durability.workloads.session_clients import SessionClient, Way
from storeproof.experiments.durability.workloads.session_summary import USERS, SessionSummary, ways_of
from storeproof.experiments.fault_experiment import Subject, check_load
from storeproof.history import Operation, Recorder
from storeproof.spec.scale import DurabilityScale

_BEFORE: Final = 100
"""Acknowledged operations before the fault."""
_AFTER: Final = 50
"""Acknowledged operations after it, by clients that ended with their server."""
_WAIT_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.02


class Sessions(FaultWorkload[Strike]):
    """The clients of many rounds; each round has its own keys."""

    summary: SessionSummary

    def __init__(self, subject: Subject, layout: Layout, scale: DurabilityScale, summary: SessionSummary) -> None:
        """
        Args:
            layout: of single values.
            summary: of earlier rounds, on another store; the rounds continue from there.
        """
        super().__init__(subject, (layout,), summary)
        self._layout = layout
        self._scale = scale
        self._recorder = Recorder()
        self._replaced = threading.Event()
        """Set when this round has another primary."""
        self._further: list[Session] = []
        """Those with other nodes, of this round."""

    @contextmanager
    def clients(self, strike: Strike) -> Iterator[RoundClients]:
        """All clients, to the end of the round: what they have seen before the fault counts after it."""
        self._recorder, self._replaced = Recorder(), threading.Event()
        users = [self._user(strike, way) for way in ways_of(self.round)]

        def go_on(running: RoundClients, primary: str) -> None:  # noqa: ARG001 - those that still run ask for it
            if not running.ended:
                self._replaced.set()
                return
            running.add([user() for user in users])
            wanted = self._recorder.acknowledged + _AFTER
            wait_until(lambda: self._recorder.acknowledged >= wanted, _WAIT_SECONDS, _LOOK_SECONDS)

        with RoundClients(first=lambda node: self._first(strike, node), go_on=go_on) as running:
            running.at_the_end(self._close_further)
            left = iter(users)
            clients = open_clients(len(users), lambda: next(left)())
            running.add(clients)
            wait_until(lambda: self._recorder.acknowledged >= _BEFORE, _WAIT_SECONDS, _LOOK_SECONDS)
            time.sleep(self._subject.rng.uniform(*self._scale.load_seconds))
            check_load(self._subject.handle, clients)
            yield running

    def read_back(self, strike: Strike) -> Sequence[Operation]:  # noqa: ARG002 - its store is whole
        """Nothing: all is judged by what its clients have read."""
        return self._recorder.operations()

    def _user(self, strike: Strike, way: Way) -> Callable[[], Client]:
        """What opens a client, and again one that goes on with what the first has seen."""
        log, nodes = self._recorder.client(), dict[int, str]()
        """Of the user's sessions, by their identity: each lives as long as the round."""
        others = strike.other_nodes

        def opened(node: str) -> Session:
            session = strike.at(node)()
            nodes[id(session)] = node
            return session

        def elsewhere() -> Session:
            self._further.append(opened(others[log.client % len(others)]))
            return self._further[-1]

        strategy = SessionClient(
            log,
            self._layout,
            self._name,
            USERS,
            self._random(),
            elsewhere=elsewhere if way in ("spread", "tied") else None,
            replaced=None if way == "tied" else self._replaced,
            asking=lambda session: strike.asks(log.client, nodes[id(session)]),
        )
        pause = pause_of(USERS, self.strikes, MOST_REQUESTS)
        return lambda: Client(lambda: opened(strike.struck_node if way == "tied" else strike.primary()), strategy, Paced(pause))

    def _first(self, strike: Strike, node: str) -> Client:
        """A client of a key that no other reads."""
        strategy = SessionClient(self._recorder.client(), self._layout, self._name, USERS, self._random())
        return Client(strike.at(node), strategy, Paced())

    @property
    def _name(self) -> str:
        return f"session{self.summary.rounds + 1}"

    def _close_further(self) -> None:
        further, self._further = self._further, []
        for session in further:
            session.close()

    def _random(self) -> random.Random:
        return random.Random(self._subject.rng.getrandbits(64))
