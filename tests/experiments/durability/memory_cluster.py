"""A cluster of three stores in this process: replication that waits or does not, partitions, and a failover when it is asked for."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from storeproof.contract import Address, Key, Record, Refused, Unknown
from storeproof.errors import StoreDied
from storeproof.experiments.fault_experiment import Subject
from storeproof.faults.cluster_fault import ClusterFault
from storeproof.launch.handle import FaultMeans, RunningCluster
from tests.experiments.durability.memory import Session, Store, Written

NAMES = ("n1", "n2", "n3")
_WRITE_SECONDS = 0.0005
"""So that a round has hundreds of writes, and not tens of thousands to read back."""


class NodeStore(Store):
    """One node: what it writes it sends to those that hear it."""

    def __init__(self, name: str, cluster: MemoryCluster) -> None:
        super().__init__()
        self.name = name
        self.cluster = cluster
        self.cause: Exception | None = None
        """Why it ended, if not by itself."""
        self.follows = False
        """Whether it knows that another one is the primary."""

    def stored(self, name: str, key: Key, record: Record | None) -> None:
        time.sleep(_WRITE_SECONDS)
        if self.follows:
            raise Refused("it is a replica")
        super().stored(name, key, record)
        reached = self.cluster.copy(self, name, key, record)
        if self.cluster.synchronous and not reached:
            raise Unknown("no replica has it")

    def create(self, name: str) -> None:
        super().create(name)
        for other in self.cluster.stores.values():
            if other is not self:
                Store.create(other, name)


class MemoryNetwork:
    """Notes who is cut off from the others."""

    def __init__(self, cluster: MemoryCluster) -> None:
        self._cluster = cluster

    def isolate(self, node: str) -> None:
        self._cluster.apart.add(node)

    def deafen(self, node: str) -> None:
        self._cluster.deaf.add(node)

    def split(self) -> None:
        self._cluster.apart.update(NAMES)

    def lose(self, share: float) -> None:
        self._cluster.share = share

    def delay(self, seconds: float) -> None:
        self._cluster.late = seconds

    def slow(self, node: str, kbits: Mapping[str, int]) -> None:
        self._cluster.apart.add(node)

    def unplug(self, node: str) -> None:
        self._cluster.stores[node].alive = False

    def heal_all(self) -> None:
        self._cluster.deeds.append("network healed")
        self._cluster.apart.clear()
        self._cluster.deaf.clear()
        self._cluster.share = self._cluster.late = 0.0


class MemoryNode:
    """One node, as faults see it."""

    def __init__(self, store: NodeStore) -> None:
        self._store = store

    @property
    def address(self) -> Address:
        return Address(self._store.name, 1)

    def check_alive(self) -> None:
        if not self._store.alive:
            raise self._store.cause or StoreDied(f"{self._store.name} ended by itself", "the log's last line")

    def kill(self) -> None:
        self._store.end(clean=False)

    def empty(self) -> None:
        self._store.memory, self._store.disk = {}, {}
        self._store.cluster.deeds.append(f"{self._store.name} emptied")


class MemoryCluster:
    """See `RunningCluster`; lies override one of its methods."""

    settle_seconds = 1
    elsewhere: Sequence[str] = ()
    """Files outside the directories of its nodes that they write to."""

    def __init__(self, *, synchronous: bool) -> None:
        self.synchronous = synchronous
        self.stores = {name: NodeStore(name, self) for name in NAMES}
        self.apart: set[str] = set()
        self.deaf: set[str] = set()
        """Those that are heard and hear no other."""
        self.share = 0.0
        """Of the packets that are lost: what was lost is sent again."""
        self.late = 0.0
        """Seconds that one node's answer to another takes longer."""
        self.behind: set[str] = set()
        """Those that came back and lack what was written meanwhile."""
        self.deeds: list[str] = []
        self.network = MemoryNetwork(self)
        self.nodes = NAMES
        self._primary = NAMES[0]
        for name in NAMES[1:]:
            self.stores[name].follows = True

    def hearing(self, source: NodeStore) -> list[NodeStore]:
        """The nodes that get what a node sends: of a deaf one until they have another primary."""
        if source.name in self.apart or (source.name in self.deaf and source.name != self._primary):
            return []
        left = [each for each in self.stores.values() if each.alive and each.name not in self.apart | self.deaf]
        return [each for each in left if each is not source]

    def copy(self, source: NodeStore, name: str, key: Key, record: Record | None) -> int:
        """Send a write to all who hear it; how many answer, as the sender hears."""
        hearing = self.hearing(source)
        for each in hearing:
            with each.lock:
                Store.stored(each, name, key, record)
        if self.synchronous:
            time.sleep(self.late)
        return 0 if source.name in self.deaf else len(hearing)

    def node(self, name: str) -> MemoryNode:
        return MemoryNode(self.stores[name])

    def primary(self) -> str:
        """Another one where the others do not hear its answers; the same one where none of them is left."""
        out = self.apart | self.deaf
        if self._primary in out or not self.stores[self._primary].alive:
            candidates = [name for name in NAMES if name not in out and self.stores[name].alive]
            if candidates:
                self._primary = self.elect(candidates)
                self.stores[self._primary].follows = False
        return self._primary

    def successor_of(self, node: str) -> str:
        if (found := self.primary()) == node:
            raise Unknown("the others name no other primary")
        return found

    def missed(self, node: str) -> float | None:
        """Lies tell more."""
        return None

    def elect(self, candidates: Sequence[str]) -> str:
        """Those that are left all have the same, but for one that has just come back."""
        return min(candidates, key=lambda name: name in self.behind)

    def fail_over(self) -> str | None:
        return None

    def bring_back(self, name: str) -> None:
        """It gets new writes, and what it missed only when all is healed."""
        self.behind.add(name)
        self.stores[name].follows = True
        self.stores[name].begin()
        self.deeds.append(f"{name} back")

    def heal(self) -> None:
        """The others take the data of the primary, whatever they have."""
        main = self.stores[self._primary]
        others = [store for store in self.stores.values() if store is not main]
        for store in others:
            store.follows = True
            with store.lock:
                pass  # until a write that had begun before has ended
        with main.lock:
            for store in others:
                with store.lock:
                    store.memory = {name: dict(records) for name, records in main.memory.items()}
                    store.disk = {name: dict(records) for name, records in main.memory.items()}
                    if not store.alive:
                        store.generation += 1
                        store.alive = True
            self.network.heal_all()  # last: who is no longer fenced has the data of the primary
            self.behind.clear()
            self.deeds.append("healed")

    def wait_whole(self) -> None:
        self.deeds.append("whole")

    def set_aside(self) -> Mapping[str, Mapping[Path, int]]:
        return {}


class Promoted(MemoryCluster):
    """As the standbys of PostgreSQL are."""

    def fail_over(self) -> str:
        return self.primary()


class MemoryHandle:
    """The cluster as one store."""

    kind = "process"
    power_cut_method: str | None = None

    def __init__(self, cluster: MemoryCluster) -> None:
        self._cluster = cluster

    def data_written(self) -> Written:
        return Written(self._cluster.stores[self._cluster.primary()])

    def files_elsewhere(self) -> Sequence[str]:
        return self._cluster.elsewhere

    @property
    def cluster(self) -> RunningCluster:
        found: Any = self._cluster
        return found

    @property
    def address(self) -> Address:
        return self._cluster.node(self._cluster.primary()).address

    def cannot(self, capability: FaultMeans) -> None:
        return None

    def check_alive(self) -> None:
        if not all(store.alive for store in self._cluster.stores.values()):
            raise StoreDied("a node ended by itself", "the log's last line")

    def log_tail(self) -> str:
        return "the log's last line"


def subject(cluster: MemoryCluster, seed: int = 7, session: type[Session] = Session) -> Subject:
    """A cluster in this process as the subject of an experiment."""
    handle: Any = MemoryHandle(cluster)
    return Subject(handle, lambda where: session(cluster.stores[where.address.host]), random.Random(seed))


def connect_to(cluster: MemoryCluster, address: Address) -> Session:
    """A session with one node."""
    return Session(cluster.stores[address.host])


class Kill(ClusterFault):
    """Without lag: the others have all that was acknowledged."""

    name = "kill"
    loses_node = True

    def strike_node(self, cluster: RunningCluster, node: str) -> None:
        cluster.node(node).kill()
