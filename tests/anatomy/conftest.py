"""A directory in which I/O can be watched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from storeproof.anatomy.watch import IoWatch, check_available
from storeproof.errors import NotAvailable
from storeproof.spec.store.files import FileRule

ANY = (FileRule(kind="log", paths=("*",)),)


@pytest.fixture
def watched(tmp_path: Path) -> Path:
    """A directory on ext4, for root."""
    try:
        check_available(tmp_path, ANY)
        IoWatch(tmp_path, [os.getpid()], ANY).close()
    except NotAvailable as reason:
        pytest.skip(str(reason))
    return tmp_path
