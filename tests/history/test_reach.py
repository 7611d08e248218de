"""Whether a fault struck what clients wrote, by what was seen of the store's files."""

from __future__ import annotations

import pytest

from storeproof.history import Reach


@pytest.mark.parametrize(
    ("reach", "records", "says"),
    [
        (Reach(4096, ()), 40, ""),
        (Reach(16 * 40, ()), 40, ""),
        (Reach(16 * 40 - 1, ()), 40, "holds nothing of what was written: 639 bytes, and 40 records were acknowledged"),
        (Reach(0, ()), 1, "the data directory holds nothing of what was written: 1 records were acknowledged"),
        (Reach(0, ()), 0, ""),
        (Reach(1 << 30, ("/tmp/a.db",)), 40, "it writes to /tmp/a.db, outside its data directory, where no fault strikes"),
        (Reach(1 << 30, ("/a", "/b", "/c")), 0, "it writes to /a, and 2 files more, outside its data directory"),
    ],
)
def test_a_fault_counts_where_it_struck(reach: Reach, records: int, says: str) -> None:
    """By bytes for each record that was acknowledged; and one file elsewhere is too many."""
    found = reach.missed(records)
    assert (says in found) if says else not found
