"""PyMySQL's connection, and how long it waits for an answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pymysql

TIMEOUT = 5
"""Seconds to wait for an answer."""
_LONG = 120
"""Seconds, where the server goes through all of a table: InnoDB reads 2 GB that are not in its buffer pool from the disk."""


class Connection(pymysql.connections.Connection):
    """One whose patience can be changed: PyMySQL takes it when the connection is made, and reads it from here before each answer."""

    _read_timeout: float

    @contextmanager
    def patient(self) -> Iterator[None]:
        """Wait longer meanwhile."""
        self._read_timeout = _LONG
        try:
            yield
        finally:
            self._read_timeout = TIMEOUT
