"""Empties a set of Aerospike: by the info protocol, and again until it is empty.

The server answers before it has truncated, and leaves records that were written in its last moment: it goes by the time of their update.
The client's own `truncate` holds the interpreter's lock while it waits, so that no other thread of the process runs, such as a relay.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from storeproof.adapters.aerospike.sorting import run
from storeproof.contract import Refused, Unknown

_SECONDS: Final = 30.0
"""How long a set may take to be empty."""

_PAUSE: Final = 0.02
"""Seconds between two looks."""


def truncate(client: Any, namespace: str, name: str) -> None:
    """Remove all records of a set.

    Raises:
        Refused: the server does not want to, such as for a user without the right.
        Unknown: no answer, or the set is not empty after half a minute.
    """
    deadline = time.monotonic() + _SECONDS
    while True:
        answer = str(run(client.info_random_node, f"truncate:namespace={namespace};set={name}")).partition("\t")[2].strip()
        if answer.lower() != "ok":
            raise Refused(f"the server does not truncate the set {name}: {answer[:200] or 'no answer'}")
        while is_truncating(states := _states(client, namespace, name)):
            _wait(deadline, name, states)
        if not holds_records(states):
            return
        _wait(deadline, name, states)


def _states(client: Any, namespace: str, name: str) -> list[Mapping[str, str]]:
    """What each node says of its part of the set; nothing, if it has none."""
    answers: Mapping[str, tuple[Any, str | None]] = run(client.info_all, f"sets/{namespace}/{name}")
    for error, _ in answers.values():
        if error is not None:
            raise Unknown(f"a node does not say what it has of the set {name}: {error}")
    return [state_of(answer or "") for _, answer in answers.values()]


def state_of(answer: str) -> dict[str, str]:
    """The names and values in an answer about one set, `sets/NAMESPACE/SET<tab>name=value:name=value;`."""
    body = answer.rpartition("\t")[2].strip().rstrip(";")
    return {name: value for name, equals, value in (each.partition("=") for each in body.split(":")) if equals}


def is_truncating(states: list[Mapping[str, str]]) -> bool:
    """Whether a node is at it."""
    return any(state.get("truncating", "false") == "true" for state in states)


def holds_records(states: list[Mapping[str, str]]) -> bool:
    """Whether a node has records left."""
    return any(int(state.get("objects", 0)) for state in states)


def _wait(deadline: float, name: str, states: list[Mapping[str, str]]) -> None:
    if time.monotonic() > deadline:
        left = sum(int(state.get("objects", 0)) for state in states)
        raise Unknown(f"the set {name} is not empty after {_SECONDS:g} s: {left} records are left")
    time.sleep(_PAUSE)
