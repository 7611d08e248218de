"""Ids of requests, which match a reply to its request: each request of a connection has another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from storeproof.load.wire.request import Slot, WireProtocol

_WIDTHS: Final = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}
"""Widths in bytes of msgpack's unsigned integers, by their first byte; smaller ones than 0x80 are one byte in all."""
_SYNC: Final = 1
"""IPROTO_SYNC, in the header of a request and of its reply."""


@dataclass(frozen=True)
class NormalizedRequest:
    """A request whose id is blank, and as wide as the compiled part needs it."""

    data: bytes
    slots: tuple[Slot, ...] = ()
    """The places of ids in the request."""


def normalize(protocol: WireProtocol, request: bytes) -> NormalizedRequest:
    """A request with its id blank. Tarantool's ids are as short as they can be; they are made as wide as those of other clients."""
    if protocol == "mongo" and len(request) >= 16 and int.from_bytes(request[:4], "little") == len(request):
        return NormalizedRequest(request[:4] + bytes(4) + request[8:], (Slot(4, 4, "id-le"),))
    if protocol == "iproto" and (sync := _sync(request)):
        at, width, begin = sync
        body = request[begin:at] + b"\xce\0\0\0\0" + request[at + width :]
        head = b"\xce" + len(body).to_bytes(4, "big")
        return NormalizedRequest(head + body, (Slot(len(head) + at - begin + 1, 4, "id-be"),))
    return NormalizedRequest(request)


def id_in_reply(protocol: WireProtocol, reply: bytes) -> tuple[int, int, str] | None:
    """Offset, width and order of the id in a reply; None where there is none."""
    if protocol == "mongo":
        return (8, 4, "le")
    if protocol == "iproto" and (sync := _sync(reply)):
        at, width, _ = sync
        return (at + 1, width - 1, "be") if width > 1 else None
    return None


def _sync(frame: bytes) -> tuple[int, int, int] | None:
    """In a frame of Tarantool's: where the id is, how wide with its first byte, and where the header begins."""
    begin = 1 + _WIDTHS.get(frame[0], 0) if frame else 0
    if begin >= len(frame) or int.from_bytes(frame[1:begin] or frame[:1], "big") != len(frame) - begin or frame[begin] & 0xF0 != 0x80:
        return None
    at = begin + 1
    for _member in range(frame[begin] & 0x0F):
        if at + 1 >= len(frame):
            return None
        key, at = frame[at], at + 1
        width = 1 + _WIDTHS.get(frame[at], 0)
        if key == _SYNC:
            return at, width, begin
        at += width
    return None
