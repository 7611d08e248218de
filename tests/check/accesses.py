"""A notation for histories of one hot key, written by hand."""

from __future__ import annotations

import re
from typing import Any

from storeproof.history import Action, Answer, Operation, RequestOutcome

_LINE = re.compile(r" *(?P<do>get|put|cas|pia|del|add) *(?P<args>[\w+ -]*?) *(-> *(?P<answer>\w+))? *\|(?P<bar>-*)(?P<end>\||\?|no)")
_ACTIONS: dict[str, Any] = {
    "get": "get",
    "put": "put",
    "cas": "compare_and_set",
    "pia": "put_if_absent",
    "del": "delete",
    "add": "increment",
}
_ANSWERS: dict[str, Any] = {"yes": True, "no": False, "nothing": None}


def access(
    client: int,
    action: Action,
    invoked: int,
    completed: int | None,
    outcome: RequestOutcome,
    write_id: str = "",
    expected: str = "",
    amount: int = 0,
    answer: Answer = None,
) -> Operation:
    """An operation on the one key of these histories."""
    return Operation(
        client=client,
        action=action,
        collection="c",
        key="k",
        invoked=invoked,
        completed=completed,
        outcome=outcome,
        write_id=write_id,
        expected=expected,
        amount=amount,
        answer=answer,
    )


def accesses(*lines: str) -> list[Operation]:
    """One operation a line, each by a client of its own: its bar says when, as everywhere in these tests.

    put a        |---|
    get -> a        |---|
    cas a b -> yes        |--|
    add +2 -> 5  |-?            unknown
    pia c        |-no           refused
    """
    found = []
    for client, line in enumerate(lines):
        match = _LINE.fullmatch(line.rstrip())
        assert match is not None, f"not an operation: {line!r}"
        args, said = match["args"].split(), match["answer"]
        action = _ACTIONS[match["do"]]
        answer = None if said is None else _ANSWERS[said] if said in _ANSWERS else int(said) if said.isdigit() else said
        outcome: Any = {"|": "ok", "?": "unknown", "no": "refused"}[match["end"]]
        found.append(
            access(
                client,
                action,
                match.start("bar") * 10,
                None if outcome == "unknown" else match.end("bar") * 10,
                outcome,
                write_id=args[-1] if args and action != "increment" else "",
                expected=args[0] if action == "compare_and_set" else "",
                amount=int(args[0]) if action == "increment" else 0,
                answer=answer,
            )
        )
    return found
