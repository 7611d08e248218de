"""What a host of an embedded store answers (`storeproof.embedded`): four bytes of length, big-endian, and a msgpack array.

`[0, count, value]`, whose value is not looked at. `[1, kind, message]` is an error.
"""

from __future__ import annotations

from tests.load.wire.framing import msgpack
from tests.load.wire.framing.frame import MOST, Framer, Malformed, shown


class Embedded(Framer):
    """A message, as a whole."""

    def _unit(self, data: bytes, at: int) -> int:
        begin = at + 4
        if begin > len(data):
            return self._more(4)
        size = int.from_bytes(data[at:begin], "big")
        if size > MOST:
            raise Malformed(f"a reply of more than {MOST} bytes")
        end = begin + size
        if end > len(data):
            return self._more(end - at)
        self._answer(data, begin, end)
        self._complete = True
        return end

    def _answer(self, data: bytes, at: int, end: int) -> None:
        kind, members, at = msgpack.value(data, at, end)
        if kind != "array" or members != 3:
            raise Malformed("three members were expected")
        kind, status, at = msgpack.value(data, at, end)
        if kind != "integer" or status not in (0, 1):
            raise Malformed("a status was expected")
        if at == end:
            raise Malformed("a reply without a value")
        if status:
            self._error = shown(data[at:end])
            return
        kind, self._count, at = msgpack.value(data, at, end)
        if kind != "integer" or at == end:
            raise Malformed("a count and a value were expected")
