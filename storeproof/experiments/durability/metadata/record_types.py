"""Types: a record is of the same types, and has the same values to the last bit, as before the fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import Any, ClassVar, Final

from storeproof.contract import Key, Layout, Record, Refused, Row, Session, Unsupported, call
from storeproof.experiments.durability.metadata.aspect import Aspect, Offered, Part
from storeproof.oracle import same

_DOUBLES: Final = (0.1 + 0.2, 1 / 3, -0.0, 1e300, 5.0)

_RECORDS: Final[Mapping[str, tuple[Any, ...]]] = {
    "single_key": (bytes(range(256)), b"", b"1", b"1.0"),
    "hash10": ({"field0": bytes(range(256)), "field1": b"", "field2": b"007"},),
    "document10": ({"field0": "", "field1": "1", "field2": "\u0130\U0001f511"},),
    "nested": (
        {"name": "1", "profile": {"address": {"place": {"latitude": 0.1 + 0.2, "longitude": -1 / 3}}}, "orders": [{"number": 2**53 - 1}]},
    ),
    "product": (
        {"name": "", "price": 1.5, "stock": 0, "tags": [], "maker": {"name": "true", "country": None}, "active": True, "reviews": [{}]},
    ),
    "ledger": ({"account": "1.10", "amount": Decimal("1.10"), "terms": {"rate": Decimal("0.000000001")}},),
    "row": tuple(Row(number, real) for number, real in zip((2**31 - 1, -(2**31), 0, 1, -1), _DOUBLES, strict=True)),
    "counter": (2**53 + 1, -7, 0),
    "queue": ([b"", b"\0", b"1", b"b", b"1"],),
    "members": ({"1", "01", "a"},),
    "ranking": ({"first": 0.1 + 0.2, "second": -1.5, "third": 2.0},),
}
"""By model, each a `Record`."""


class RecordTypes(Aspect):
    """Of all models that the variant claims."""

    name: ClassVar[str] = "types"

    def __init__(self, offered: Offered) -> None:
        super().__init__(offered)
        self._layouts = {model: offered.layout(model) for model in _RECORDS if model in offered.models}
        self._before: list[tuple[Layout, Key, Record]] = []

    @property
    def offers(self) -> bool:
        return bool(self._layouts)

    def write(self, session: Session, part: Part) -> None:
        """As the store answers it now is how it has to be afterwards; whether that is right is another case's business."""
        for model, layout in self._layouts.items():
            with suppress(Unsupported):  # claimed and refused: correctness fails on it
                collection = session.collection(layout)
                collection.prepare()
                for number, record in enumerate(_RECORDS[model], start=1 if part == "rewritten" else 100):
                    key = number if layout.model.key == "integer" else f"{part}-{number}"
                    with suppress(Refused):  # beyond a limit of the store
                        call(collection, layout, "put", key, record)
                        self._before.append((layout, key, call(collection, layout, "get", key)))

    def look(self, session: Session, *, moved: bool) -> Iterator[str]:  # noqa: ARG002
        for layout, key, before in self._before:
            found = call(session.collection(layout), layout, "get", key)
            if not same(found, before):
                yield f"{layout.model.model}, {key}: it is {_short(found)}, and was {_short(before)}"


def _short(record: Record | None) -> str:
    text = repr(record)
    return text if len(text) <= 120 else f"{text[:100]}..."
