"""The physical limits are measured quickly, and are of a credible size."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

import pytest

from storeproof.machine.limits import fsync_us, loopback_us


def test_limits_are_quick_and_leave_nothing(tmp_path: Path) -> None:
    """Microseconds, in well under a second, and the directory is empty afterwards."""
    begun = monotonic()
    assert 0.1 < fsync_us(tmp_path) < 1e6
    assert 1 < loopback_us() < 1e5
    assert monotonic() - begun < 2
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    """Said, not guessed."""
    with pytest.raises(OSError, match="No such file"):
        fsync_us(tmp_path / "nowhere")
