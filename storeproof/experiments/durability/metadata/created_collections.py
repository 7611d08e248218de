"""Collections: one that was created is there, if only empty, and one that was dropped is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from storeproof.contract import Layout, Refused, Session, call
from storeproof.experiments.durability.metadata.aspect import Aspect, Offered, Part

_MODEL = "single_key"


class Collections(Aspect):
    """Of values."""

    name: ClassVar[str] = "collections"

    def __init__(self, offered: Offered) -> None:
        super().__init__(offered)
        self._empty: list[Layout] = []
        self._dropped: list[Layout] = []

    @property
    def offers(self) -> bool:
        return _MODEL in self.offered.models

    def write(self, session: Session, part: Part) -> None:  # noqa: ARG002
        empty, dropped = self.offered.layout(_MODEL), self.offered.layout(_MODEL)
        session.collection(empty).prepare()
        collection = session.collection(dropped)
        collection.prepare()
        call(collection, dropped, "put", "a", b"dropped")
        collection.clear()
        self._empty.append(empty)
        self._dropped.append(dropped)

    def look(self, session: Session, *, moved: bool) -> Iterator[str]:  # noqa: ARG002
        for layout in self._empty:
            collection = session.collection(layout)
            if (found := call(collection, layout, "get", "a")) is not None:
                yield f"an empty collection has {found!r}"
            call(collection, layout, "put", "a", b"new")
        for layout in self._dropped:
            collection = session.collection(layout)
            try:
                collection.prepare()
                found = call(collection, layout, "get", "a")
            except Refused as reason:  # its name is of no use, but nothing comes back
                self.shown = False
                self.told.append(f"a dropped collection cannot be created again: {str(reason)[:120]}")
                return
            if found is not None:
                yield "a dropped collection has its records again"
