"""What each client sees of its own writes, and of what it has read before, through a fault of a cluster.

Each client writes a key of its own. Some read where they write, at the primary that there is; some read at another node too, as a driver
does that spreads reads; and some of these are tied to the primary that the fault strikes. See `ClusterExperiment`.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from time import monotonic_ns
from typing import Final

from storeproof.check import SessionReads, judge_sessions
from storeproof.contract import Address, Layout, Session
from storeproof.experiments.client import Client, under_load
from storeproof.experiments.client_threads import wait_until
from storeproof.experiments.durability.clusters.cluster_experiment import ClusterExperiment
from storeproof.experiments.durability.clusters.cluster_linearizability import Paced
from storeproof.experiments.durability.clusters.session_clients import SessionClient, Way
from storeproof.experiments.durability.clusters.session_summary import SessionSummary, found_in
from storeproof.experiments.fault_experiment import Subject, check_load
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.history import Operation, Recorder
from storeproof.spec.scale import DurabilityScale

_WAYS: Final[tuple[Way, ...]] = ("following", "following", "spread", "spread", "tied", "tied")
"""Of each client, by its number."""
_BEFORE: Final = 100
"""Acknowledged operations before the fault."""
_WAIT_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.02


class ClusterSessions(ClusterExperiment):
    """One cluster, the faults of one guarantee, many rounds."""

    def __init__(
        self,
        subject: Subject,
        faults: Sequence[ClusterFault],
        layout: Layout,
        scale: DurabilityScale,
        *,
        connect_to: Callable[[Address], Session],
        summary: SessionSummary,
    ) -> None:
        """
        Args:
            layout: of single values.
            connect_to: opens a session with one node.
            summary: of earlier rounds, on another cluster; the rounds continue from there.
        """
        super().__init__(subject, scale.turns(faults), connect_to)
        self.summary = summary
        self._layout = layout
        self._scale = scale
        self._recorder = Recorder()
        self._replaced = threading.Event()
        """Set when this round has another primary."""
        self._further: list[Session] = []
        """Those with other nodes, of this round."""

    def setup(self) -> None:
        """Create the collection."""
        with self.subject.session() as session:
            session.collection(self._layout).prepare()

    def done(self) -> int:
        """Those that were judged."""
        return self.summary.rounds

    @contextmanager
    def load(self) -> Iterator[None]:
        """All clients, to the end of the round: what they have seen before the fault counts after it."""
        self.begin()
        self._recorder, self._replaced = Recorder(), threading.Event()
        with ExitStack() as load:
            load.callback(self._close_further)
            clients: list[Client] = []
            for way in _WAYS:
                clients.append(self._client(way))
                load.callback(clients[-1].close)
            load.enter_context(under_load(clients))
            wait_until(lambda: self._recorder.acknowledged >= _BEFORE, _WAIT_SECONDS, _LOOK_SECONDS)
            time.sleep(self.subject.rng.uniform(*self._scale.load_seconds))
            check_load(self.handle, clients)
            yield

    def first_client(self, node: str) -> Client:
        """A client of a key that no other reads."""
        strategy = SessionClient(self._recorder.client(), self._layout, self._name, len(_WAYS), self._random())
        return Client(self.at(node), strategy, Paced())

    def go_on(self, primary: str) -> None:  # noqa: ARG002 - its clients ask for it
        """Those that follow the primary connect to the new one."""
        self._replaced.set()

    def audit(self) -> None:
        """Judge what was read, once the cluster is whole for the next round."""
        self._moments.ended = monotonic_ns()
        self.make_whole()
        operations = self._recorder.operations()
        judged = {
            way: judge_sessions([each for each in operations if each.action == "put" or _way(each.client) == way])
            for way in dict.fromkeys(_WAYS)
        }
        found = found_in(judged, self._moments, self._connections.node_of)
        reads, first = [each for each in operations if each.action == "get"], [alike[0] for alike in found.wrong if alike]
        self.summary.judge_round(judged, found, self.recorded(reads, _Right(judged.values()), wrong=first))

    @property
    def _name(self) -> str:
        return f"session{self.done() + 1}"

    def _client(self, way: Way) -> Client:
        log, nodes = self._recorder.client(), dict[int, str]()
        """Of the client's sessions, by their identity: each lives as long as the round."""
        others = [name for name in self._cluster.nodes if name != self._struck_node]
        strategy = SessionClient(
            log,
            self._layout,
            self._name,
            len(_WAYS),
            self._random(),
            elsewhere=None if way == "following" else self._opening(others[log.client % len(others)], nodes),
            replaced=None if way == "tied" else self._replaced,
            asking=lambda session: self._connections.opened(log.client, monotonic_ns(), nodes[id(session)]),
        )

        def connect() -> Session:
            node = self._struck_node if way == "tied" else self._cluster.primary()
            session = self.at(node)()
            nodes[id(session)] = node
            return session

        return Client(connect, strategy, Paced())

    def _opening(self, node: str, nodes: dict[int, str]) -> Callable[[], Session]:
        connect = self.at(node)

        def opened() -> Session:
            session = connect()
            self._further.append(session)
            nodes[id(session)] = node
            return session

        return opened

    def _close_further(self) -> None:
        further, self._further = self._further, []
        for session in further:
            session.close()

    def _random(self) -> random.Random:
        return random.Random(self.subject.rng.getrandbits(64))


class _Right:
    """Which reads show less than their client knew."""

    def __init__(self, judged: Iterable[SessionReads]) -> None:
        self._wrong = {each.read for reads in judged for each in (*reads.forgotten, *reads.back)}

    def lost(self, read: Operation, /) -> bool:
        """Whether it does."""
        return read in self._wrong

    def found(self, read: Operation, /) -> bool:
        """Whether it does not."""
        return read not in self._wrong


def _way(client: int) -> Way | None:
    """None: a client that only shows that there is another primary."""
    return _WAYS[client] if client < len(_WAYS) else None
