"""OP_MSG: what MongoDB answers (https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/).

Counts: the documents of the cursor's batch, else `n`, else 1.
"""

from __future__ import annotations

import struct
from typing import Final

from tests.load.wire.framing import bson
from tests.load.wire.framing.frame import MOST, Framer, Malformed, shown

_OP_MSG: Final = 2013
_CHECKSUM: Final = 1
_REQUIRED: Final = 0xFFFF & ~_CHECKSUM
"""Flags that change what a message is: more to come among them."""
_FIRST = struct.Struct("<IIII")
"""Size, id, id of what it answers, kind."""
_HEADER = struct.Struct("<16xIBI")
"""Flags, the kind of the first section, and its size."""
_BEFORE: Final = _HEADER.size - 4
_ERRORS: Final = (b"errmsg", b"writeErrors", b"writeConcernError")
_BATCHES: Final = (b"firstBatch", b"nextBatch")


class Mongo(Framer):
    """A message of one document, as a whole."""

    def _unit(self, data: bytes, at: int) -> int:
        here = len(data) - at
        if here < _FIRST.size:
            return self._more(_FIRST.size)
        size, _request, _answers, kind = _FIRST.unpack_from(data, at)
        if kind != _OP_MSG or not _HEADER.size < size <= MOST:
            raise Malformed("no OP_MSG")
        if here < _HEADER.size:
            return self._more(_HEADER.size)
        flags, section, document = _HEADER.unpack_from(data, at)
        if flags & _REQUIRED or section:
            raise Malformed("an OP_MSG that is no reply")
        checksum = 4 if flags & _CHECKSUM else 0
        if _BEFORE + document + checksum != size:
            raise Malformed("a document that does not fill its message")
        if here < size:
            return self._more(size)
        end = at + int(size)
        self._answer(data, at + _HEADER.size, end - checksum)
        self._complete = True
        return end

    def _answer(self, data: bytes, at: int, end: int) -> None:
        """Walks over the elements of the answer, its cursor and that one's batch; documents of a batch are passed over."""
        affected = batch = None
        fine = False
        inside: list[bytes] = []  # of the answer: its cursor, and of that its batch
        begin = at
        while True:
            if at >= end:
                raise Malformed("a document that is cut off")
            kind, at = data[at], at + 1
            if not kind:
                if not inside:
                    break
                inside.pop()
                continue
            name, at = bson.name(data, at, end)
            depth = len(inside)
            if depth == 2:
                batch = (batch or 0) + 1
            if _opens(name, kind, depth):
                inside.append(name)
                batch = 0 if depth else batch
                at = bson.begin(data, at, end)
                continue
            after = bson.skip(data, kind, at, end)
            if depth == 0 and name in _ERRORS:
                self._error = self._error or f"{name.decode()}: {shown(data[at + 4 : after].rstrip(bytes(1)))}"
            elif depth == 0 and name == b"ok":
                fine = bson.whole(data, kind, at) == 1
            elif depth == 0 and name == b"n":
                affected = bson.whole(data, kind, at)
            at = after
        if at != end:
            raise Malformed("a document that is shorter than its message")
        if not fine and self._error is None:
            self._error = f"not ok: {shown(data[begin:end])}"
        self._count = batch if batch is not None else affected if affected is not None else 1


def _opens(name: bytes, kind: int, depth: int) -> bool:
    """Whether an element is one whose own elements are looked at: the cursor, and its batch."""
    return (depth == 0 and name == b"cursor" and kind == bson.DOCUMENT) or (depth == 1 and name in _BATCHES and kind == bson.ARRAY)
