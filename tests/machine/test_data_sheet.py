"""A data sheet has what was measured of a disk, and nothing of one that cannot be written to."""

from __future__ import annotations

import os
from pathlib import Path
from statistics import median
from time import sleep

import pytest

from storeproof.machine import data_sheet as module
from storeproof.machine.data_sheet import DataSheet, data_sheet


def test_a_disk_is_measured(tmp_path: Path) -> None:
    """Each write takes some time, each rate is positive, and nothing is left."""
    found = data_sheet(tmp_path)
    assert 3 <= len(found.append) <= 200
    assert 3 <= len(found.overwrite) <= 200
    assert min(*found.append, *found.overwrite) > 0
    assert found.write_rate
    assert found.read_rate
    assert list(tmp_path.iterdir()) == []


def test_a_slow_sync_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a sync takes 5 ms, both writes that are synced take as long; and on a disk with few of them in the time, few are made."""
    sync = os.fdatasync

    def slow(file: int) -> None:
        sleep(0.005)
        sync(file)

    monkeypatch.setattr(os, "fdatasync", slow)
    monkeypatch.setattr(module, "_LONGEST", 0.1)
    found = data_sheet(tmp_path)
    assert median(found.append) > 5000
    assert median(found.overwrite) > 5000
    assert 3 <= len(found.append) <= 20


def test_where_nothing_can_be_written_nothing_is_known(tmp_path: Path) -> None:
    """A full disk is told of by the cases that it fails, and not here."""
    assert data_sheet(tmp_path / "none") == DataSheet((), (), (), None, None)
