"""Many records into a collection: in batches where the store takes them, else one by one."""

from __future__ import annotations

import itertools
import string
from collections.abc import Mapping
from typing import Final

from storeproof.contract import Collection, Key, Layout, Record, call, supports


def fill(collection: Collection, layout: Layout, records: Mapping[Key, Record], batch: int) -> None:
    """Put the records, `batch` of them a request."""
    if not supports(collection, "put_many"):
        for key, record in records.items():
            call(collection, layout, "put", key, record)
        return
    items = iter(records.items())
    while part := dict(itertools.islice(items, batch)):
        call(collection, layout, "put_many", part)


_BYTES: Final = 100


def others(number: int) -> dict[Key, Record]:
    """That many values of 100 bytes, under keys such as `m-000012`, of all letters in turn: what cases have `beside` their own records."""
    letters = itertools.cycle(string.ascii_lowercase)
    keys = (f"{letter}-{each:06}" for letter, each in zip(letters, range(number), strict=False))
    return {key: key.encode().ljust(_BYTES, b".") for key in keys}
