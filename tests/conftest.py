"""What all of our own tests stand on."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

# Whoever starts us in the background (`nohup`, a script's `&`) has us ignore these, and our children after us: then no
# test could interrupt a run. What is set to Python's own handlers here, a child finds at the system's defaults.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

ALONE = (
    # They look at the whole machine: mounts, loop devices, processes that were left, and what the next sweep takes away.
    "launch",
    "disk",
    "cleanup",
    "machine",
    "end_to_end/test_interrupts.py",
    "end_to_end/test_disturbances.py",
    # They look at how long something takes, or at what is left of a processor.
    "adapters/test_sqlite_host.py",
    "load",
    "records",
    "stats",
    "mutants",
    "experiments/performance",
    "end_to_end/test_interleaved.py",
    "end_to_end/test_pytest_options.py",
)
"""Folders and files whose tests are marked `serial`, as are all that need servers or an engine."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what does not run beside other tests, before `-m` selects."""
    here = Path(__file__).parent
    for item in items:
        at = item.path.relative_to(here)
        alone = any(at.is_relative_to(each) for each in ALONE)
        if alone or item.get_closest_marker("servers") or item.get_closest_marker("docker"):
            item.add_marker(pytest.mark.serial)
