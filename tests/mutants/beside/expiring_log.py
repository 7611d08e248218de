"""A store with times to live: the end of a record is beside it in a log. Nothing expires: the times to live of a load are hours long."""

from __future__ import annotations

import struct
import time
from typing import Final

from tests.mutants.beside.logs import LOGS, Together
from tests.mutants.log_stores.served import FUNCTIONS as PLAIN
from tests.mutants.log_stores.served import connecting, run

_END: Final = struct.Struct("<d")


def _stored(log: Together, name: str, key: str, record: bytes, end: bytes | None) -> None:
    log.store([(name, key, record)], [(_ends_of(name), key, end)])


def _ends_of(name: str) -> str:
    return f"ends of {name}"


def put(log: Together, name: str, key: str, record: bytes) -> None:
    _stored(log, name, key, record, None)


def put_expiring(log: Together, name: str, key: str, record: bytes, seconds: int) -> None:
    _stored(log, name, key, record, _END.pack(time.time() + seconds))


def expires_in(log: Together, name: str, key: str) -> float | None:
    end = log.beside.get(_ends_of(name), key)
    return None if end is None else _END.unpack(end)[0] - time.time()


def expire(log: Together, name: str, key: str, seconds: int) -> bool:
    return _ends(log, name, key, _END.pack(time.time() + seconds))


def persist(log: Together, name: str, key: str) -> bool:
    return _ends(log, name, key, None)


def _ends(log: Together, name: str, key: str, end: bytes | None) -> bool:
    if log.get(name, key) is None:
        return False
    log.beside.append([(_ends_of(name), key, end)])
    return True


FUNCTIONS: Final = {**PLAIN, **{each.__name__: each for each in (put, put_expiring, expires_in, expire, persist)}}
connect = connecting(FUNCTIONS)

if __name__ == "__main__":
    run(LOGS, **FUNCTIONS)
