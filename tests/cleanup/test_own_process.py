"""What a test does to its own process reaches no later test: tests/conftest.py undoes it. The second test comes after the first."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from storeproof.cleanup.registry import registry
from storeproof.halt import halt

FOLDER = Path.cwd()


def test_a_test_spoils_its_process(tmp_path: Path) -> None:
    """It leaves a handler, another directory and an interrupted run."""
    os.chdir(tmp_path)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    registry.interrupt = KeyboardInterrupt()
    halt.interrupt()
    assert halt.interrupted


def test_the_next_one_finds_it_as_it_was() -> None:
    """Also where it is the first that the process runs."""
    assert Path.cwd() == FOLDER
    assert signal.getsignal(signal.SIGTERM) != signal.SIG_IGN
    assert registry.interrupt is None
    assert not halt.interrupted
