"""How things are written for Tarantool: paths in documents, and tuples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgpack
from tarantool.msgpack_ext.packer import default as extended

from storeproof.contract import Path, Refused

UNPACKABLE: Final = (ValueError, TypeError, OverflowError, RecursionError)
"""What msgpack and the connector raise for what they cannot pack: then nothing was sent."""


def notation(path: Path) -> str:
    """Tarantool's JSON path: names in quotes, without escapes, and positions from 1."""
    text = ""
    for part in path:
        if isinstance(part, int):
            if part < 0:
                raise Refused(f"there is no list position {part}")
            text += f"[{part + 1}]"
        elif not part or '"' in part or "\\" in part:
            raise Refused(f"Tarantool has no notation for a path through the field name {part!r}")
        else:
            text += f'["{part}"]'
    return text


def place(path: Path) -> tuple[str, str | None, str | int | None]:
    """The whole path, that of the parent, and the last part as Lua knows it."""
    if not path:
        return "doc", None, None
    last = path[-1]
    return f"doc{notation(path)}", f"doc{notation(path[:-1])}", last + 1 if isinstance(last, int) else last


def packed(tuples: Sequence[Sequence[Any]]) -> bytes:
    """Tuples as MessagePack, for functions that must not see them as Lua values: 1.0 would become 1, and bytes would become text."""
    try:
        blob: bytes = msgpack.packb(tuples, default=extended)
    except UNPACKABLE as reason:
        raise Refused(f"MessagePack: {reason}") from reason
    return blob
