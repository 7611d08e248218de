"""Change feeds: one that was left before the fault goes on after it where it was left, or is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final

from storeproof.contract import Change, Layout, Refused, Session, Unsupported, call
from storeproof.experiments.durability.metadata.aspect import Aspect, Offered, Part

_MODEL: Final = "single_key"
_SECONDS: Final = 5.0
"""For changes that are there already."""
_NONE: Final = 0.1
"""Seconds for a change that is told twice, which would be there at once."""


class Feeds(Aspect):
    """The position is taken before the store rewrites its files, and what it has not told yet is written before and after that.

    A refusal to go on is honest: the client knows that it has to read everything again.
    """

    name: ClassVar[str] = "change feeds"

    def __init__(self, offered: Offered) -> None:
        super().__init__(offered)
        self._layout: Layout = offered.layout(_MODEL)
        self._left: Any = None

    @property
    def offers(self) -> bool:
        return _MODEL in self.offered.models and self.offered.claims("server_side.change-feed-resumed")

    def write(self, session: Session, part: Part) -> None:
        collection = session.collection(self._layout)
        if part == "logged":
            call(collection, self._layout, "delete", "a")
            return
        collection.prepare()
        call(collection, self._layout, "follow", False)
        call(collection, self._layout, "put", "a", b"one")
        if call(collection, self._layout, "changes", 1, _SECONDS) != [Change("put", "a")]:
            raise Unsupported("the feed does not tell what was written")  # correctness fails on it
        call(collection, self._layout, "leave_feed")
        call(collection, self._layout, "put", "b", b"two")
        self._left = collection

    def look(self, session: Session, *, moved: bool) -> Iterator[str]:
        if moved:
            self.shown = False
            self.told.append("change feeds were not resumed: the store has another address now")
            return
        try:
            call(self._left, self._layout, "resume_feed")
            call(session.collection(self._layout), self._layout, "put", "c", b"three")
            found: Sequence[Change] = call(self._left, self._layout, "changes", 3, _SECONDS)
            more: Sequence[Change] = call(self._left, self._layout, "changes", 1, _NONE)
        except Refused as reason:
            self.shown = False
            self.told.append(f"it refuses to resume a change feed: {str(reason)[:120]}")
            return
        wanted = [Change("put", "b"), Change("delete", "a"), Change("put", "c")]
        if (told := [*found, *more]) != wanted:
            yield f"it told {_names(told)}, and since the feed was left there was {_names(wanted)}"
        call(self._left, self._layout, "leave_feed")


def _names(changes: Sequence[Change]) -> str:
    return ", ".join(f"{each.kind} {each.key}" for each in changes) or "nothing"
