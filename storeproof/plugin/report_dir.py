"""The report directory: locked while a run uses it. A run does not replace a report that is more complete than its own."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from storeproof.errors import UsageError
from storeproof.regular_file import exists
from storeproof.report.previous import keep_unfinished
from storeproof.result.json_file import UNFINISHED, write_result
from storeproof.result.model import Result

_LOCK = ".running"
"""Locked and holding the run's process id, while a run uses the directory."""


class ReportDir:
    def __init__(self, given: str) -> None:
        """Raises UsageError if the name is empty or a file."""
        if not given.strip():
            raise UsageError("--report-dir is empty; give a directory, or leave it out for reports/latest")
        self.path = Path(given)
        if exists(self.path) and not self.path.is_dir():
            raise UsageError(f"--report-dir {self.path} is a file; give a directory")
        self._made: list[Path] = []
        self._lock: int | None = None

    def take(self) -> str:
        """Create and lock the directory. Returns one line about the remains of a killed run in it, or "".
        Raises `UsageError`: it cannot be written to, or another run is using it."""
        self._made = [each for each in (self.path, *self.path.parents) if not exists(each)]
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._take_lock()
            return keep_unfinished(self.path)
        except OSError:
            self.leave()
            raise UsageError(f"--report-dir {self.path} cannot be written to; give another directory") from None

    def keep(self, result: Result) -> None:
        with contextlib.suppress(OSError):  # a directory that cannot be written to is reported at the end
            write_result(result, self.path / UNFINISHED)

    def finished(self) -> None:
        """The report was written, here or elsewhere; remove the unfinished result."""
        with contextlib.suppress(OSError):
            (self.path / UNFINISHED).unlink(missing_ok=True)

    def leave(self) -> None:
        """Unlock the directory; remove directories that were created and remained empty. May be called twice."""
        if self._lock is not None:
            with contextlib.suppress(OSError):
                (self.path / _LOCK).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None
        with contextlib.suppress(OSError):  # it is not empty
            for each in self._made:
                each.rmdir()
        self._made = []

    def _take_lock(self) -> None:
        """A lock of the process: forked workers do not inherit it, and it ends with the process, however that ends."""
        file = self.path / _LOCK
        while True:
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except (BlockingIOError, PermissionError):
                other = os.read(descriptor, 20).decode(errors="replace")
                os.close(descriptor)
                who = f"pid {other}" if other.isdecimal() else "which has just started"
                raise UsageError(
                    f"--report-dir {self.path} is in use by another run, {who}; wait for it, or give this run another directory"
                ) from None
            except OSError:  # a file system without locks
                os.close(descriptor)
                file.unlink(missing_ok=True)
                return
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), file.stat()):
                    break
            os.close(descriptor)  # its holder has ended and removed it meanwhile
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        self._lock = descriptor


def without_report_dir(arguments: Iterable[str]) -> Iterator[str]:
    """A run's arguments as its result holds them: where its report went is about one machine, and not about what was tried."""
    words = iter(arguments)
    for word in words:
        if word == "--report-dir":
            next(words, None)
        elif not word.startswith("--report-dir="):
            yield word
