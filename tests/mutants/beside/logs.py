"""Logs with something beside a record, and the ways in which a fault parts the two."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from tests.mutants.crash_states.log_store import Appended
from tests.mutants.log_stores.log import Entry, Log


class Together(Appended):
    """Honest: a record and what is beside it are one entry."""

    syncs = True

    @property
    def beside(self) -> Appended:
        """Where it is."""
        return self

    def store(self, record: Entry, beside: Entry) -> None:
        self.append([*record, *beside])

    def sync(self) -> None:
        if self.syncs:
            super().sync()


class BesideLater(Together):
    """What is beside a record is written after it, and synced with what comes next."""

    def store(self, record: Entry, beside: Entry) -> None:
        self.append(record)
        self.syncs = False
        self.append(beside)
        self.syncs = True


class BesideFirst(Together):
    """What is beside a record is synced before the record is written."""

    def store(self, record: Entry, beside: Entry) -> None:
        self.append(beside)
        self.append(record)


class OwnFile(Together):
    """What is beside records has a file of its own, which is not synced."""

    def __init__(self, data: Path) -> None:
        super().__init__(data)
        own = data / "beside"
        own.mkdir(exist_ok=True)
        self._own = _Unsynced(own)

    @property
    def beside(self) -> Appended:
        return self._own

    def store(self, record: Entry, beside: Entry) -> None:
        self.append(record)
        self.beside.append(beside)

    def close(self) -> None:
        self.beside.close()
        super().close()


class _Unsynced(Appended):
    def sync(self) -> None:
        pass


class IgnoredBeside(Together):
    """An error of the sync of what is beside a record is ignored."""

    block = Log.block
    ignores = False

    def store(self, record: Entry, beside: Entry) -> None:
        self.append(record)
        self.ignores = True
        self.append(beside)
        self.ignores = False

    def sync(self) -> None:
        with contextlib.suppress(*([OSError] if self.ignores else [])):
            super().sync()


LOGS: Final = (Together, BesideLater, BesideFirst, OwnFile, IgnoredBeside)
