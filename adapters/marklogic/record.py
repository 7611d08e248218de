"""How a record is written as a JSON document of MarkLogic, and its key in the document's URI."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any, Final

from storeproof.contract import Json, Key, Layout, Record, Row
from storeproof.spec import model as shapes

_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]")


class Form:
    """The documents of one collection: `{COLLECTION: {"key": KEY, "record": RECORD}}`."""

    def __init__(self, layout: Layout) -> None:
        self._name = layout.name
        self._kind = layout.model.record

    def uri(self, key: Key) -> str:
        """Under a directory of the collection's. What is no letter, digit, `_` or `-` is written as its bytes in hexadecimal."""
        plain = "".join(each if _PLAIN.match(each) else "".join(f"~{byte:02x}" for byte in each.encode()) for each in str(key))
        return f"/storeproof/{self._name}/{plain}.json"

    def key(self, uri: str) -> str:
        """The text key that is in a URI."""
        written = uri.rpartition("/")[2].removesuffix(".json")
        plain = re.sub(r"~([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), written)
        return plain.encode("latin-1").decode("utf-8")

    def encode(self, key: Key, record: Record) -> dict[str, Any]:
        written: Any = record
        if isinstance(self._kind, shapes.Hash):
            assert isinstance(record, dict)
            written = {field: base64.b64encode(value).decode("ascii") for field, value in record.items() if isinstance(value, bytes)}
        elif isinstance(record, bytes):
            written = base64.b64encode(record).decode("ascii")
        elif isinstance(record, Row):
            written = {"integer": record.integer, "real": record.real}
        return {self._name: {"key": key, "record": written}}

    def decode(self, document: Mapping[str, Any]) -> Record:
        written: Any = document[self._name]["record"]
        if isinstance(self._kind, shapes.Value):
            return base64.b64decode(written)
        if isinstance(self._kind, shapes.RowRecord):
            return Row(int(written["integer"]), float(written["real"]))
        if isinstance(self._kind, shapes.Hash):
            return {field: base64.b64decode(value) for field, value in written.items()}
        fields: dict[str, Json] = written
        return fields


def equal(one: Any, other: Any) -> bool:
    """As JSON: true is not 1; numbers by value; objects in any order of their fields."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def extracted(result: Mapping[str, Any]) -> dict[str, Any]:
    """What a search result brings of its document; nothing where nothing was selected."""
    content = result.get("extracted", {}).get("content", [])
    found: dict[str, Any] = content[0] if content else {}
    return found
