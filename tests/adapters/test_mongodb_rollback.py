"""What a member of a replica set has rolled back, counted in the files that it leaves."""

from __future__ import annotations

from pathlib import Path

import bson

from storeproof.adapters.mongodb import cluster
from storeproof.contract.clusters import Undoing


def test_documents_are_counted_by_their_lengths(tmp_path: Path) -> None:
    """In the folders of all collections; other files of the data directory are not looked at, and a file that is cut off ends."""
    members = cluster({})
    assert isinstance(members, Undoing)
    assert members.set_aside(tmp_path) == {}
    whole, cut_off = (tmp_path / "rollback" / name / "removed.2026-11-26T10-19-22.0.bson" for name in ("first", "second"))
    for path, content in ((whole, bson.encode({"_id": 1, "text": "x" * 300}) * 3), (cut_off, bson.encode({"_id": 1})[:9])):
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    (tmp_path / "collection-0.wt").write_bytes(b"no document")
    assert members.set_aside(tmp_path) == {whole: 3, cut_off: 1}
