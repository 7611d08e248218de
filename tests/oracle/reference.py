"""A reference collection, correct by definition, with a change feed and stored searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from storeproof.contract.feeds import Change
from storeproof.contract.values import Key, Record
from storeproof.oracle import query
from storeproof.oracle.answer import REFUSAL, UNDEFINED, State
from storeproof.oracle.step import step
from storeproof.spec.query import Where


class Reference:
    """The state of one collection: records, unread changes and stored searches."""

    def __init__(self, records: Mapping[Key, Record] | None = None) -> None:
        self.state: State = dict(records or {})
        self._records = False
        self._untold: list[Change] | None = None
        self._searches: dict[str, Where] = {}

    def do(self, operation: str, args: tuple[Any, ...]) -> Any:
        """Execute an operation and return the correct answer. `REFUSAL` and `UNDEFINED` leave the state unchanged."""
        if own := getattr(self, f"_{operation}", None):
            return own(*args)
        answer, after = step(self.state, operation, args)
        if answer is not REFUSAL and answer is not UNDEFINED:
            self._note(operation, args, after)
            self.state = after
        return answer

    def _follow(self, records: bool) -> None:
        self._records, self._untold = records, []

    def _changes(self, count: int, seconds: float) -> Sequence[Change]:
        assert self._untold is not None
        told, self._untold = self._untold[:count], self._untold[count:]
        return told

    def _leave_feed(self) -> None: ...

    def _resume_feed(self) -> None: ...

    def _save_search(self, name: str, where: Where) -> None:
        self._searches[name] = where

    def _searches_for(self, record: Any) -> Sequence[str]:
        return sorted(name for name, where in self._searches.items() if query.holds(where.filter, record))

    def _note(self, operation: str, args: tuple[Any, ...], after: State) -> None:
        """Append the changes of an operation to the feed. Overwriting a record with an equal one is a change, too."""
        if self._untold is None:
            return
        written = [args[0]] if operation in ("put", "get_and_set") else []
        differing = [key for key in {**self.state, **after} if key not in written and self.state.get(key) != after.get(key)]
        for key in [*written, *differing]:
            there = key in after
            self._untold.append(Change("put" if there else "delete", key, after[key] if there and self._records else None))
