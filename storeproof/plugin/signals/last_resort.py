"""The end of an interrupted run whose main thread does not come to it: the report is written all the same, and the process ends."""

from __future__ import annotations

import os
import sys
import threading
from functools import partial
from pathlib import Path

import pytest

from storeproof.cleanup.last_resort import LastResort
from storeproof.cleanup.registry import registry
from storeproof.plugin.run import Run
from storeproof.plugin.run_end import print_ending

_WRITING_SECONDS = 60.0
"""For the main thread, which writes the report itself."""


def watch_signals(run: Run, reporter: pytest.TerminalReporter | None) -> None:
    """From now on a signal ends the run, whatever its main thread is at. Only the main thread can set that up."""
    if threading.current_thread() is threading.main_thread():
        LastResort(partial(_end, run, reporter))


def _end(run: Run, reporter: pytest.TerminalReporter | None) -> None:
    try:
        if not run.finish_without_main_thread(_place()):
            run.over.wait(_WRITING_SECONDS)
        elif reporter is not None:
            reporter.ensure_newline()
            reporter.write_sep("!", repr(registry.interrupt or KeyboardInterrupt()))
            print_ending(run, reporter)
            reporter.flush()
    finally:  # what is left is removed by the reaper
        os._exit(pytest.ExitCode.INTERRUPTED)


def _place() -> str:
    """Where the main thread is: the innermost line."""
    frame = sys._current_frames()[threading.main_thread().ident or 0]
    return f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}, in {frame.f_code.co_name}"
