"""Plays a history of operations on a collection, store against oracle."""

from __future__ import annotations

from collections import Counter
from typing import Any

from storeproof.blame import CaseEnding, ending_of
from storeproof.contract import Collection, Layout, Refused, Unknown, Unsupported, call
from storeproof.contract.notation import brief, shown
from storeproof.experiments.correctness.random_examples import FailingExample, NotCleared
from storeproof.oracle import REFUSAL, UNDEFINED, State, same_lenient, step
from storeproof.oracle.equality import difference
from storeproof.oracle.strategies import may_refuse
from storeproof.oracle.thresholds import Call
from storeproof.spec.known_failure import CaseFinding


def play_history(collection: Collection, layout: Layout, history: list[Call], limits: Counter[str], answered: set[str]) -> None:
    """Run one history on the collection, which is empty before, and leave it empty; note the limits and what was answered right.

    Raises:
        FailingExample: an answer is wrong, with all that was done.
        NotCleared: so is one, and what the history wrote cannot be removed.
    """
    state: State = {}
    told: list[str] = []
    try:
        for operation, args in history:
            wanted, after = step(state, operation, args)
            if wanted is UNDEFINED:
                continue
            told.append(shown(operation, args))
            found = _ask(collection, layout, operation, args)
            told[-1] += f" -> {brief(found)}"
            if isinstance(found, Refused):
                if wanted is REFUSAL or may_refuse(operation, args):
                    limits[_limit(operation, found)] += wanted is not REFUSAL
                    continue
                text = "\n".join([*told, f"refused, although every store must accept it: expected {brief(wanted)}"])
                raise FailingExample(text, CaseFinding(text, frozenset({"refused"}), said=str(found), operation=operation))
            if isinstance(found, Unsupported):
                limits[_limit(operation, found)] += 1
                continue
            if wanted is REFUSAL or not same_lenient(found, wanted):
                raise _wrong(told, operation, found, wanted)
            state = after
            answered.add(operation)
        _close(collection, layout, state, told, answered)
    except Unknown:
        raise
    except Exception as found:
        try:
            collection.clear()  # whatever is left must not reach the next history
            collection.prepare()
        except Exception as reason:  # noqa: BLE001 - told with what was found, which it must not hide
            raise NotCleared(found, reason) from None
        raise


def _close(collection: Collection, layout: Layout, state: State, told: list[str], answered: set[str]) -> None:
    """At the end every record is there and as it should be, and is removed."""
    for key, record in state.items():
        found = _ask(collection, layout, "get", (key,))
        told.append(f"{shown('get', (key,))} -> {brief(found)}")
        if not same_lenient(found, record):
            raise _wrong(told, "get", found, record, " at the end")
        answered.add("get")
        for closing in ("exists", "delete"):
            found = _ask(collection, layout, closing, (key,))
            if isinstance(found, Unsupported):
                continue
            if found is not True:
                raise _wrong([*told, f"{shown(closing, (key,))} -> {found!r}"], closing, found, wanted=True)
            answered.add(closing)


def _wrong(told: list[str], operation: str, found: Any, wanted: Any, when: str = "") -> FailingExample:
    text = "\n".join([*told, f"expected{when}: {brief(wanted)}", *difference(found, wanted)])
    return FailingExample(text, CaseFinding.wrong_answer(text, operation, brief(found), brief(wanted)))


def _ask(collection: Collection, layout: Layout, operation: str, args: tuple[Any, ...]) -> Any:
    try:
        return call(collection, layout, operation, *args)
    except (Refused, Unsupported) as answer:
        if ending_of(answer) is CaseEnding.SPOILED:
            raise
        return answer


def _limit(operation: str, reason: Exception) -> str:
    return f"{operation}: {str(reason)[:100]}"
