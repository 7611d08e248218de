"""How long a request may take before it is taken for one that waits for a lock: the longer, the farther away the store is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from storeproof.contract import Key, Layout, Record
from storeproof.experiments.correctness.interleaved_sessions import play
from storeproof.spec.interleaving import Interleaving
from tests.shipped import SHIPPED

LAYOUT = Layout("c", SHIPPED.models["single_key"])
TURNS = Interleaving.model_validate(
    {
        "turns": [
            {"session": "a", "do": "begin", "args": ["snapshot"]},
            {"session": "b", "do": "begin", "args": ["snapshot"]},
            {"session": "a", "do": "put", "args": ["x", "a"]},
            {"session": "b", "do": "put", "args": ["y", "b"]},
            {"session": "a", "do": "commit"},
            {"session": "b", "do": "commit"},
        ],
        "committed": [2],
    }
)
_LONGEST = 10.0


class Session:
    """A session, and its collection."""

    def __init__(self, put: Callable[[Key], object]) -> None:
        self._put = put

    def collection(self, layout: Layout) -> Session:
        return self

    def begin(self, isolation: str) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...

    def close(self) -> None: ...

    def version(self) -> None: ...

    def read_settings(self, names: object) -> None: ...

    def prepare(self) -> None: ...

    def clear(self) -> None: ...

    def describe(self) -> None: ...

    def get(self, key: Key) -> None: ...

    def put(self, key: Key, record: Record) -> None:
        self._put(key)

    def delete(self, key: Key) -> None: ...

    def exists(self, key: Key) -> None: ...


def played(put: Callable[[Key], object], opening: float, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is told of the turns, if opening a session takes that many seconds."""
    now, opened = time.monotonic, list[Session]()
    monkeypatch.setattr(time, "monotonic", lambda: now() + len(opened) * opening)

    def connect() -> Session:
        opened.append(Session(put))
        return opened[-1]

    told: list[str] = []
    play(TURNS, connect, LAYOUT, told, attempt=1)  # type: ignore[arg-type, return-value]
    return [line for line in told if "waits" in line]


def test_a_request_that_another_session_must_end_first_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next turn is taken meanwhile, and ends it."""
    ended = threading.Event()
    assert played(lambda key: ended.wait(_LONGEST) if key == "x" else ended.set(), 0.0, monkeypatch) == ["a waits at put('x', 'a')"]


def test_a_store_that_is_far_away_is_given_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where opening a session takes a second, a request that takes a part of one waits for no one."""
    assert played(lambda _: time.sleep(0.2), 1.0, monkeypatch) == []
