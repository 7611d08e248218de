"""Masks known passwords in text, in all forms in which clients, servers and Python write them."""

from __future__ import annotations

import functools
import html
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from storeproof.printable import printable

MASK = "***"
_SHORTEST_IN_BASE64 = 6
"""Bytes. What is left of a shorter one between two others is too short to be told from other text."""


def mask(text: str, secrets: Iterable[str | None]) -> str:
    """The text with the known passwords masked: as they are, quoted, in the code of Python or JSON, percent-encoded, or in base64."""
    known = tuple(sorted({each for each in secrets if each}))
    return _pattern(known).sub(MASK, text) if known else text


@functools.lru_cache(maxsize=16)
def _pattern(secrets: tuple[str, ...]) -> re.Pattern[str]:
    forms = {form for secret in secrets for form in _forms(secret) if form}
    return re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)))


def _forms(secret: str) -> Iterator[str]:
    raw = secret.encode(errors="surrogateescape")
    yield from (printable(secret), html.escape(secret))
    once = {
        form
        for code in (secret, repr(secret)[1:-1], ascii(secret)[1:-1], repr(raw)[2:-1], json.dumps(secret)[1:-1])
        for form in (code, *_escaped(code))
    }
    yield from once
    for form in once:  # the arguments of an exception that quotes a reply
        yield from _escaped(form)
    for encoded in (quote(raw), quote(raw, safe=""), quote_plus(raw)):
        yield encoded
        yield re.sub("%..", lambda code: code[0].lower(), encoded)
    if len(raw) >= _SHORTEST_IN_BASE64:
        yield from _in_base64(raw)


def _escaped(text: str) -> Iterator[str]:
    """As a part of a literal, whatever its quotes are."""
    for quotes in ("", "'", '"', "'\""):
        yield re.sub(f"[\\\\{quotes}]", r"\\\g<0>", text)


def _in_base64(raw: bytes) -> Iterator[str]:
    """Its part of a longer text in base64, as in the header of a login over HTTP, `user:password`: it begins at any of three bytes."""
    for before in range(3):
        first, last = -(-before * 8 // 6), (before + len(raw)) * 8 // 6
        yield b64encode(bytes(before) + raw).decode()[first:last]
