"""A demand of the specification in words that need no knowledge of its YAML: the request, and the correct answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from storeproof.printable import printable
from storeproof.spec import CapabilityCase, Step
from storeproof.spec.interleaving import Turn


@dataclass(frozen=True)
class ShownStep:
    session: str
    """The session, of several concurrent ones; empty where there is one."""
    request: str
    expected: str


def exchanges(case: CapabilityCase) -> list[ShownStep]:
    """All of a case, in their order."""
    found = [_exchange(step) for step in case.steps]
    if case.interleaved is not None:
        found += map(_turn, case.interleaved.turns)
    return found + [_exchange(step) for step in case.after]


def _exchange(step: Step) -> ShownStep:
    wait = f"wait {step.wait:g} s, then " if step.wait else ""
    return ShownStep("", wait + _call(step.do, step.args), "; or ".join(_expected(step)) or "done")


def _turn(turn: Turn) -> ShownStep:
    allowed = [_named(name, value) for name, value in (turn.alternatives or {}).items()]
    expected = allowed or ([] if turn.expect is None else [_value(turn.expect)])
    return ShownStep(turn.session, _call(turn.do, turn.args), "; or ".join(expected) or "–")


def _expected(step: Step) -> Iterator[str]:
    if step.missing:
        yield "no such field, which is not null"
    if step.between is not None:
        yield f"a number from {step.between[0]:g} to {step.between[1]:g}"
    for name, value in (step.alternatives or {}).items():
        yield _named(name, value)
    if step.refused:
        yield "a clear refusal that changes nothing"
    if "expect" in step.model_fields_set:
        yield _value(step.expect)


def _call(operation: str, arguments: tuple[Any, ...]) -> str:
    return f"{operation.replace('_', ' ')} {', '.join(map(_value, arguments))}".rstrip()


def _named(name: str, value: Any) -> str:
    return f"{_value(value)} ({name.replace('_', ' ')})"


def _value(value: Any) -> str:
    """As JSON; `nothing` for null."""
    if value is None:
        return "nothing"
    return printable(json.dumps(value, ensure_ascii=False, default=str))
