"""Answers the value before, for a moment after another client replaced it: a single client never notices."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key, Layout, Record

_STALE_SECONDS = 0.05
_last: dict[tuple[str, Key], tuple[int, float, Record | None]] = {}
"""Which client's thread wrote a key last, when, and what was there before."""


class LaggingValues(Values):
    def __init__(self, link: Link, layout: Layout) -> None:
        super().__init__(link, layout)
        self._place = layout.name

    def put(self, key: Key, record: Record) -> None:
        before = super().get(key)
        super().put(key, record)
        _last[self._place, key] = threading.get_ident(), time.monotonic(), before

    def get(self, key: Key) -> Record | None:
        writer, when, before = _last.get((self._place, key), (0, 0.0, None))
        if before is not None and writer != threading.get_ident() and time.monotonic() - when < _STALE_SECONDS:
            return before
        return super().get(key)


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": LaggingValues}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
