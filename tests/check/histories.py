"""A notation for histories written by hand."""

from __future__ import annotations

import re
from typing import Any

from storeproof.history import Action, Operation, RequestOutcome

_LINE = re.compile(r"(?P<pre> *)(?P<what>put|del|add) *(?P<value>[\w+-]*) *\|(?P<bar>[-]*)(?P<end>ok|no|\?)\|?")


def operation(
    client: int,
    action: Action,
    collection: str,
    key: str | int,
    write_id: str,
    amount: int,
    invoked: int,
    completed: int | None,
    outcome: RequestOutcome,
) -> Operation:
    """A write in one line."""
    return Operation(
        client=client,
        action=action,
        collection=collection,
        key=key,
        write_id=write_id,
        amount=amount,
        invoked=invoked,
        completed=completed,
        outcome=outcome,
    )


def history(*lines: str, key: str = "k") -> list[Operation]:
    """One operation a line: its bar begins where the operation was invoked and ends where its reply was there.

        put a |--ok|             acknowledged
           put b |--no|          refused
        del   |--?               unknown
        add +3 |-ok|             an increment

    The column of the first `|` is the invocation's time, that of the last the completion's, in milliseconds.
    """
    found = []
    for client, line in enumerate(lines):
        match = _LINE.fullmatch(line.rstrip())
        assert match is not None, f"not an operation: {line!r}"
        outcome: Any = {"ok": "ok", "no": "refused", "?": "unknown"}[match["end"]]
        action: Any = {"put": "put", "del": "delete", "add": "increment"}[match["what"]]
        invoked = match.start("bar") - 1
        completed = None if outcome == "unknown" else len(line.rstrip()) - 1
        found.append(
            Operation(
                client=client,
                action=action,
                collection="counter" if action == "increment" else "single_key",
                key=key,
                write_id=match["value"] if action == "put" else "",
                amount=int(match["value"]) if action == "increment" else 0,
                invoked=invoked * 1_000_000,
                completed=None if completed is None else completed * 1_000_000,
                outcome=outcome,
            )
        )
    return found
