"""How long an answer takes: serial, since other tests would take its processor."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.architecture.installed import CHECKOUT
from tests.pace import unit


def test_the_example_is_answered_in_time() -> None:
    """From all published results, in 140 units of processor time, with all that the command imports and reads; 82 and 83 were seen."""
    before = os.times()
    command = [sys.executable, "-c", "from storeproof.cli import main; main()", "decide", "examples/one-store-or-two.yaml"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    after = os.times()
    assert done.returncode == 0, done.stderr
    took = after.children_user + after.children_system - before.children_user - before.children_system
    assert took <= 140 * unit()
