"""A store in this process, with a memory that a kill takes and a disk that stays; and ways in which it can lie."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from storeproof.contract import Address, Key, Layout, Record, Refused, Unknown, Version
from storeproof.errors import StoreDied
from storeproof.experiments.fault_experiment import Subject
from storeproof.launch.handle import FaultMeans


class Store:
    """Honest: every write is on disk before it is acknowledged. Lies override `flush`, `recover` or `stored`."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.alive = True
        self.generation = 0
        """Connections of an earlier one are dead."""
        self.memory: dict[str, dict[Key, Record]] = {}
        self.disk: dict[str, dict[Key, Record]] = {}
        self.written = 0
        """Bytes, as many for each write."""

    def stored(self, name: str, key: Key, record: Record | None) -> None:
        """One write; None deletes."""
        self.written += 100
        if record is None:
            self.memory[name].pop(key, None)
        else:
            self.memory[name][key] = record
        self.flush(name, key)

    def flush(self, name: str, key: Key) -> None:
        """Make one key durable."""
        if key in self.memory[name]:
            self.disk[name][key] = self.memory[name][key]
        else:
            self.disk[name].pop(key, None)

    def create(self, name: str) -> None:
        """An empty collection."""
        self.memory.setdefault(name, {})
        self.disk.setdefault(name, {})

    def end(self, *, clean: bool) -> None:
        """The process ends."""
        with self.lock:
            self.alive = False

    def recover(self) -> None:
        """Start on what is on disk."""
        self.memory = {name: dict(records) for name, records in self.disk.items()}

    def begin(self) -> None:
        """The process starts."""
        with self.lock:
            self.generation += 1
            self.recover()
            self.alive = True


class Session:
    """One connection."""

    def __init__(self, store: Store) -> None:
        if not store.alive:
            raise Unknown("connection refused")
        self.store = store
        self.generation = store.generation

    def version(self) -> Version:
        return Version("Memory", "1")

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        return {}

    def collection(self, layout: Layout) -> Records:
        return Records(self, layout)

    def close(self) -> None:
        pass


class Records:
    """A collection; counters too, since keys of two models never meet."""

    def __init__(self, session: Session, layout: Layout) -> None:
        self._session = session
        self._store = session.store
        self._name = layout.name

    def prepare(self) -> None:
        with self._store.lock:
            self._store.create(self._name)

    def clear(self) -> None:
        self._store.memory.pop(self._name, None)

    def describe(self) -> Mapping[str, str]:
        return {}

    def _open(self) -> dict[Key, Any]:
        if not self._store.alive or self._session.generation != self._store.generation:
            raise Unknown("connection lost")
        if self._name not in self._store.memory:
            raise Refused("no such collection")
        return self._store.memory[self._name]

    def get(self, key: Key) -> Record | None:
        with self._store.lock:
            return self._open().get(key)

    def put(self, key: Key, record: Record) -> None:
        with self._store.lock:
            self._open()
            self._store.stored(self._name, key, record)

    def delete(self, key: Key) -> bool:
        with self._store.lock:
            there = key in self._open()
            self._store.stored(self._name, key, None)
            return there

    def exists(self, key: Key) -> bool:
        return self.get(key) is not None

    def increment(self, key: Key, by: int) -> int:
        with self._store.lock:
            total: int = self._open().get(key, 0) + by
            self._store.stored(self._name, key, total)
            return total


class Written:
    """What was written from its beginning on."""

    def __init__(self, store: Store) -> None:
        self._store, self._before = store, store.written

    def bytes(self) -> int:
        return self._store.written - self._before


class Handle:
    """Starts and ends the store."""

    kind = "process"
    data: Path | None = None
    image_digest: str | None = None
    binary_digest: str | None = None
    power_cut_method: str | None = None
    initialised: bool | None = True
    address = Address("nowhere", 1)
    nodes: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    """Files outside its directory that it writes to."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.deeds: list[str] = []

    def cannot(self, capability: FaultMeans) -> None:
        return None

    def start(self) -> float:
        self.start_nowait()
        self.wait_ready()
        return 0.001

    def start_nowait(self) -> None:
        assert not self.store.alive, "it runs already"
        self.deeds.append("start")
        self.store.begin()

    def wait_ready(self) -> None:
        if not self.store.alive:
            raise StoreDied("it ended during its start", "the log's last line")

    def stop(self) -> None:
        self.deeds.append("stop")
        self.store.end(clean=True)

    def kill(self) -> None:
        self.deeds.append("kill")
        self.store.end(clean=False)

    def data_written(self) -> Written:
        return Written(self.store)

    def files_elsewhere(self) -> Sequence[str]:
        return self.elsewhere

    def quiesce(self) -> None:
        self.deeds.append("quiesce")
        self.stop()
        self.start()

    def cut_power(self) -> None:
        """The store is left without its disk for a moment, and acknowledges all the same."""
        self.deeds.append("cut")
        with self.store.lock:
            kept = {name: dict(records) for name, records in self.store.disk.items()}
        time.sleep(0.03)
        self.store.end(clean=False)
        self.store.disk = kept

    def kill_nodes(self, names: Sequence[str]) -> None:
        raise NotImplementedError

    def wait_whole(self) -> None:
        self.deeds.append("whole")

    def pause(self) -> None:
        raise NotImplementedError

    def resume(self) -> None:
        raise NotImplementedError

    def alive(self) -> bool:
        return self.store.alive

    def check_alive(self) -> None:
        if not self.alive():
            raise StoreDied("it ended by itself", "the log's last line")

    def log_tail(self) -> str:
        return "the log's last line"

    def close(self) -> None:
        self.store.end(clean=False)


def subject(handle: Handle, session: type[Session] = Session, seed: int = 7) -> Subject:
    """A store in this process as the subject of an experiment."""
    connect: Any = lambda where: session(where.store)  # noqa: E731
    return Subject(handle, connect, random.Random(seed))  # type: ignore[arg-type]
