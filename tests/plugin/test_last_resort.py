"""A signal ends a process whose main thread never comes back, and a second one at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import pytest

_STUCK = """
    import ctypes, os, signal, sys
    from storeproof.plugin.signals import last_resort
    last_resort._PATIENCE, last_resort._IMPATIENCE = {patience}, {impatience}
    for number in last_resort.SIGNALS:
        signal.signal(number, lambda *_: None)
    last_resort.LastResort(lambda: os._exit(7))
    lock = ctypes.create_string_buffer(64)
    library = ctypes.CDLL(None)
    library.pthread_mutex_lock(lock)
    print("waits", flush=True)
    library.pthread_mutex_lock(lock)
"""
"""Waits in C for a lock that it holds itself: no handler of a signal runs, and none would do anything."""


@pytest.mark.parametrize(
    ("patience", "impatience", "numbers"),
    [(0.2, 1e9, [signal.SIGINT]), (0.2, 1e9, [signal.SIGTERM]), (1e9, 0.0, [signal.SIGINT, signal.SIGTERM])],
    ids=["SIGINT", "SIGTERM", "twice"],
)
def test_a_main_thread_that_never_comes_back_does_not_hold_the_process(patience: float, impatience: float, numbers: list[int]) -> None:
    """Whether once or twice: each has its own patience."""
    code = textwrap.dedent(_STUCK).format(patience=patience, impatience=impatience)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as stuck:
        assert stuck.stdout is not None
        assert stuck.stdout.readline() == b"waits\n"
        for number in numbers:
            stuck.send_signal(number)
        assert stuck.wait(60) == 7
