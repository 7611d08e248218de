"""Indexes: there are as many as before, with their names; what a unique one refuses it still refuses, and a dropped one stays dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar, Final

from storeproof.contract import Layout, Refused, Row, Session, Unsupported, call
from storeproof.experiments.durability.metadata.aspect import Aspect, Offered, Part
from storeproof.spec.model import Index
from storeproof.spec.query import Query

_INDEXES: Final = 2

_INDEXED: Final[Mapping[str, tuple[str, Any]]] = {
    "hash10": ("indexes.hash", {"field0": b"one", "field1": b"same"}),
    "document10": ("indexes.document", {"field0": "one", "field1": "same"}),
    "nested": ("indexes.nested", {"name": "one", "profile": {"email": "e"}}),
    "row": ("indexes.row", Row(1, 1.5)),
}
"""By model: what claims indexes of it, and a `Record`."""

_UNIQUE: Final = "product"
_BY_NAME: Final = Index(name="by_name", paths=(("name",),), unique=True)
_BY_STOCK: Final = Index(name="by_stock", paths=(("stock",),))


class Indexes(Aspect):
    """Those that a collection is created with, and those that are created later."""

    name: ClassVar[str] = "indexes"

    def __init__(self, offered: Offered) -> None:
        super().__init__(offered)
        self._models = [model for model, (claim, _) in _INDEXED.items() if model in offered.models and offered.claims(claim)]
        self._unique = _UNIQUE in offered.models and offered.claims("indexes.unique")
        self._indexed: list[tuple[Layout, str]] = []
        """With what the store reported of them."""
        self._constrained: list[Layout] = []

    @property
    def offers(self) -> bool:
        return bool(self._models) or self._unique

    def write(self, session: Session, part: Part) -> None:  # noqa: ARG002
        with suppress(Unsupported):  # claimed and refused: correctness fails on it
            for model in self._models:
                layout = self.offered.layout(model, _INDEXES)
                collection = session.collection(layout)
                collection.prepare()
                call(collection, layout, "put", 1 if layout.model.key == "integer" else "one", _INDEXED[model][1])
                self._indexed.append((layout, collection.describe()["indexes"]))
            if self._unique:
                self._constrain(session)

    def look(self, session: Session, *, moved: bool) -> Iterator[str]:  # noqa: ARG002
        for layout, before in self._indexed:
            collection = session.collection(layout)
            if (now := collection.describe()["indexes"]) != before:
                yield f"{layout.model.model}: {now} indexes, where there were {before}"
            if call(collection, layout, "get", 1 if layout.model.key == "integer" else "one") is None:
                yield f"{layout.model.model}: the record of an indexed collection is not there"
        for layout in self._constrained:
            yield from self._look_at_unique(session, layout)

    def _constrain(self, session: Session) -> None:
        layout = self.offered.layout(_UNIQUE)
        collection = session.collection(layout)
        collection.prepare()
        call(collection, layout, "put", "one", {"name": "anvil", "stock": 1})
        call(collection, layout, "create_index", _BY_NAME)
        call(collection, layout, "create_index", _BY_STOCK)
        call(collection, layout, "put", "two", {"name": "ball", "stock": 2})
        call(collection, layout, "drop_index", _BY_STOCK.name)
        self._constrained.append(layout)

    def _look_at_unique(self, session: Session, layout: Layout) -> Iterator[str]:
        collection = session.collection(layout)
        if (names := list(call(collection, layout, "index_names"))) != [_BY_NAME.name]:
            yield f"product: its indexes are {', '.join(names) or 'none'}, and were {_BY_NAME.name}"
        try:
            call(collection, layout, "put", "three", {"name": "anvil"})
        except Refused:
            pass
        else:
            yield "product: a duplicate is accepted that the unique index refused before"
        call(collection, layout, "put", "four", {"name": "chair"})
        found = [key for key, _ in call(collection, layout, "find", Query.model_validate({"filter": ["name", "eq", "ball"], "fields": []}))]
        if found != ["two"]:
            yield f"product: a search by the index finds {found}, and should find ['two']"
