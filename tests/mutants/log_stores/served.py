"""Serves a log, whose setting `lie` names which lie it tells, and the adapter of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from storeproof.embedded import serve, session
from tests.mutants.log_stores.log import Log


def name_of(log: type[Log]) -> str:
    """Of its lie: `IgnoredSync` is `ignored-sync`."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in log.__name__).lstrip("-")


def version(log: Log) -> tuple[str, str]:
    return "log store", "1"


def read_settings(log: Log) -> dict[str, str]:
    return {"lie": name_of(type(log))}


def prepare(log: Log, name: str) -> None:
    """Nothing: collections are in the keys."""


def clear(log: Log, name: str) -> None:
    log.append([(name, key, None) for each, key in log.names() if each == name])


def get(log: Log, name: str, key: str) -> bytes | None:
    return log.get(name, key)


def exists(log: Log, name: str, key: str) -> bool:
    return (name, key) in log.names()


def put(log: Log, name: str, key: str, record: bytes) -> None:
    log.append([(name, key, record)])


def put_many(log: Log, name: str, records: Mapping[str, bytes]) -> None:
    log.append([(name, key, record) for key, record in records.items()])


def delete(log: Log, name: str, key: str) -> bool:
    if not exists(log, name, key):
        return False
    log.append([(name, key, None)])
    return True


FUNCTIONS: Final = {each.__name__: each for each in (version, read_settings, prepare, clear, get, exists, put, put_many, delete)}


def connecting(functions: Mapping[str, Callable[..., Any]]) -> Callable[[Any, Mapping[str, str]], Any]:
    """The `connect` of a store with these functions."""

    def connect(address: Any, options: Mapping[str, str]) -> Any:
        return session(address, options, functions)

    return connect


connect = connecting(FUNCTIONS)


def run(logs: Iterable[type[Log]], **more: Callable[..., Any]) -> NoReturn:
    """Serve the log that the setting names. `more`: functions besides."""
    named = {name_of(each): each for each in logs}

    def opened(data: Path, settings: Mapping[str, str]) -> Log:
        return named[settings["lie"]](data)

    functions = {**FUNCTIONS, **more}
    in_turn = [name for name in functions if name not in ("version", "read_settings", "prepare")]
    serve(opened, functions, writes=in_turn, errors={OSError: "unknown"})
