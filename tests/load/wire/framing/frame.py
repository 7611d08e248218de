"""What all framers share: bytes come in pieces of any size, replies go out whole, and no length is trusted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

MOST: Final = 64 << 20
"""Bytes of the longest reply that is taken for one: above every store's own limit for what the workloads ask."""
LINE: Final = 8192
"""Bytes of the longest line of a protocol that has lines."""
_CR: Final = 13
SHOWN: Final = 200
"""Bytes of a reply that are shown in an error."""


class Malformed(Exception):
    """What came is no reply of this protocol."""


@dataclass(slots=True)
class Reply:
    """One whole reply."""

    count: int
    """What it says it found, changed or holds; each protocol says what it counts. 0 for an error."""
    error: str | None
    """What the store refused, in its own words."""
    length: int
    """Bytes."""


class Framer(ABC):
    """Cuts the bytes of one connection into replies.

    Keeps at most one reply that is not whole, and never more than `MOST` bytes of it. After garbage `problem` says what
    was found, and nothing is read any more: where one reply ends is then not known, and no later one can be believed.
    """

    def __init__(self) -> None:
        self.problem: str | None = None
        self._held = bytearray()
        self._needed = 0  # bytes of what is held, without which it is not worth to look at it again
        self._reset()

    def feed(self, data: bytes) -> list[Reply]:
        """The replies that are whole with these bytes."""
        if self.problem:
            return []
        if self._held:
            self._held += data
            if len(self._held) < self._needed:
                return []
            data = bytes(self._held)
        self._replies: list[Reply] = []
        at, end = 0, len(data)
        try:
            while at < end:
                stop = self._unit(data, at)
                if not stop:
                    break
                self._length += stop - at
                if self._complete:
                    count = self._count if self._error is None else 0
                    self._replies.append(Reply(count, self._error, self._length))
                    self._reset()
                at = stop
        except Malformed as reason:
            self.problem = f"{reason}: {shown(data[at:])}"
            at = end
        self._held = bytearray(data[at:])
        return self._replies

    @abstractmethod
    def _unit(self, data: bytes, at: int) -> int:
        """Read one part of a reply (a line, a message, the whole) that begins at `at`; where it ends, or what `_more` answers.

        Raises:
            Malformed: it is none.
        """

    def _reset(self) -> None:
        """Before a reply."""
        self._length = 0
        self._count = 0
        self._error: str | None = None
        self._complete = False

    def _more(self, size: int) -> int:
        """The part has this size, and is not here yet."""
        if self._length + size > MOST:
            raise Malformed(f"a reply of more than {MOST} bytes")
        self._needed = size
        return 0

    def _line(self, data: bytes, at: int) -> int:
        """Where the line ends that begins at `at`, its LF included; 0 if that is not here yet."""
        end = data.find(b"\n", at, at + LINE)
        if end < 0:
            if len(data) - at >= LINE:
                raise Malformed(f"a line of more than {LINE} bytes")
            return self._more(len(data) - at + 1)
        return end + 1


def text_of(data: bytes, at: int, after: int) -> bytes:
    """A line without its end, which is CR LF. Raises `Malformed`."""
    if after - at < 2 or data[after - 2] != _CR:
        raise Malformed("a line that does not end as one")
    return data[at : after - 2]


def shown(data: bytes) -> str:
    """The first bytes of a reply, printable."""
    return repr(bytes(data[:SHOWN]))[2:-1] + ("…" if len(data) > SHOWN else "")


def number(digits: bytes) -> int:
    """A decimal number, with or without a sign, of 64 bits. Raises `Malformed`."""
    text = digits[1:] if digits[:1] == b"-" else digits
    if not text.isdigit() or len(text) > 19 or not -(1 << 63) <= int(digits) < 1 << 63:
        raise Malformed("a number was expected")
    return int(digits)


def size_of(digits: bytes) -> int:
    """A length: digits alone. Raises `Malformed`."""
    if not digits.isdigit() or len(digits) > 18:
        raise Malformed("a length was expected")
    size = int(digits)
    if size > MOST:
        raise Malformed(f"a reply of more than {MOST} bytes")
    return size
