"""Transactions that are one request, and are torn apart: the variant's option `lie` says how."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import ClassVar

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Collection, Key, Layout, Record, Version


class Whole(Values):
    """All of it under one lock, also for many clients at a time."""

    alone: ClassVar[threading.Lock] = threading.Lock()

    def run_whole(self, reads: Sequence[Key], writes: Mapping[Key, Record]) -> Sequence[Record | None]:
        with self.alone:
            return self._read_then_put(reads, writes)

    def _read_then_put(self, reads: Sequence[Key], writes: Mapping[Key, Record]) -> Sequence[Record | None]:
        found = [self.get(key) for key in reads]
        for key, record in writes.items():
            self.put(key, record)
        return found


class OneByOne(Whole):
    """Each read and each write is a request of its own."""

    def run_whole(self, reads: Sequence[Key], writes: Mapping[Key, Record]) -> Sequence[Record | None]:
        return self._read_then_put(reads, writes)


class WritesLater(Whole):
    """All reads are of one moment, and all writes of a later one."""

    def run_whole(self, reads: Sequence[Key], writes: Mapping[Key, Record]) -> Sequence[Record | None]:
        with self.alone:
            found = self._read_then_put(reads, {})
        with self.alone:
            self._read_then_put((), writes)
        return found


LIES: Mapping[str, type[Whole]] = {"one-by-one": OneByOne, "writes-later": WritesLater}
"""By name."""


class WholeSession:
    """A session that can hold no transaction open."""

    def __init__(self, link: Link, kind: type[Whole]) -> None:
        self._link = link
        self._session = SQLite(link)
        self._kind = kind

    def version(self) -> Version:
        return self._session.version()

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        return self._session.read_settings(names)

    def collection(self, layout: Layout) -> Collection:
        return self._kind(self._link, layout)

    def close(self) -> None:
        self._session.close()


def connect(address: Address, options: Mapping[str, str]) -> WholeSession:
    return WholeSession(Link(address), LIES.get(options.get("lie", ""), Whole))
