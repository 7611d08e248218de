"""Many records into a collection: in batches where the store takes them, else one by one."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

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
