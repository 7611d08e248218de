"""Disks in memory, made on an empty directory and taken away again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from storeproof.disk.fuse import FuseDisk
from storeproof.errors import NotAvailable
from tests.disk.files import Make


@pytest.fixture(autouse=True)
def quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time-outs do not depend on what else runs here; a test about that overrides it."""
    monkeypatch.setattr("storeproof.machine.deadline.machine_is_busy", lambda: "")


@pytest.fixture(scope="module")
def memory_disks(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Only where one can be had at all: not without the compiled part, nor where /dev/fuse cannot be opened."""
    try:
        FuseDisk(tmp_path_factory.mktemp("disk")).close()
    except NotAvailable as reason:
        pytest.skip(str(reason))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.fixture
def make(data: Path) -> Iterator[Make]:
    made: list[FuseDisk] = []

    def start(**how: object) -> FuseDisk:
        made.append(FuseDisk(data, **how))  # type: ignore[arg-type]
        return made[-1]

    yield start
    for each in made:
        each.close()
