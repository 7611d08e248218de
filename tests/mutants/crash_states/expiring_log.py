"""A store whose log has the end of a record as a write of its own, and the ways in which a crash parts the two.

Nothing expires in it: the times to live of a recording are hours long.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from typing import Any, Final

from tests.mutants.crash_states.log_store import Appended
from tests.mutants.log_stores.log import Entry
from tests.mutants.log_stores.served import FUNCTIONS as PLAIN
from tests.mutants.log_stores.served import run

_END: Final = struct.Struct("<d")


class Expiring(Appended):
    """Honest: a record and its end are one entry."""

    syncs = True

    def store(self, record: Entry, end: Entry) -> None:
        self.append([*record, *end])

    def sync(self) -> None:
        if self.syncs:
            super().sync()

    def later(self, entry: Entry) -> None:
        """Written, and synced with what comes next."""
        self.syncs = False
        self.append(entry)
        self.syncs = True


class EndLater(Expiring):
    """The end of a record is not synced."""

    def store(self, record: Entry, end: Entry) -> None:
        self.append(record)
        self.later(end)


class EndFirst(Expiring):
    """The end of a record is synced before the record is written."""

    def store(self, record: Entry, end: Entry) -> None:
        self.append(end)
        self.append(record)


def _stored(log: Expiring, name: str, key: str, record: bytes, end: bytes | None) -> None:
    log.store([(name, key, record)], [(f"ends of {name}", key, end)])


def put(log: Expiring, name: str, key: str, record: bytes) -> None:
    _stored(log, name, key, record, None)


def put_expiring(log: Expiring, name: str, key: str, record: bytes, seconds: int) -> None:
    _stored(log, name, key, record, _END.pack(time.time() + seconds))


def expires_in(log: Expiring, name: str, key: str) -> float | None:
    end = log.get(f"ends of {name}", key)
    return None if end is None else _END.unpack(end)[0] - time.time()


def expire(log: Expiring, name: str, key: str, seconds: int) -> bool:
    return _ends(log, name, key, _END.pack(time.time() + seconds))


def persist(log: Expiring, name: str, key: str) -> bool:
    return _ends(log, name, key, None)


def _ends(log: Expiring, name: str, key: str, end: bytes | None) -> bool:
    if log.get(name, key) is None:
        return False
    log.append([(f"ends of {name}", key, end)])
    return True


FUNCTIONS: Final = {**PLAIN, **{each.__name__: each for each in (put, put_expiring, expires_in, expire, persist)}}
LOGS: Final = (Expiring, EndLater, EndFirst)


def connect(address: Any, options: Mapping[str, str]) -> Any:
    from storeproof.embedded import session

    return session(address, options, FUNCTIONS)


if __name__ == "__main__":
    run(LOGS, **FUNCTIONS)
