"""A client of the process that hosts SQLite (`sqlite_host` has its functions)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from storeproof.contract import Address
from storeproof.embedded import connect

_DROP_SECONDS = 120.0


class Link:
    def __init__(self, address: Address) -> None:
        self._address = address
        self._host = connect(address)
        self._others: list[Link] = []

    def read(self, statement: str, /, *parameters: Any) -> list[list[Any]]:
        """The rows that a statement finds."""
        return cast(list[list[Any]], self._host.call("read", [[statement, parameters]])[0])

    def change(self, statement: str, /, *parameters: Any) -> int:
        """Run one statement as a transaction; the number of rows it changed."""
        return self.write(statement, *parameters)[1]

    def write(self, statement: str, *parameters: Any) -> tuple[list[list[Any]], int]:
        """Run one statement as a transaction; the rows it returns and the number of rows it changed."""
        rows, changes = self._host.call("write", [[statement, parameters]])
        return rows, changes

    def write_all(self, statements: Sequence[tuple[str, Sequence[Any]]]) -> list[list[Any]]:
        """Run all statements as one transaction, in one request; the rows of the last one that answers with rows."""
        return cast(list[list[Any]], self._host.call("write", statements)[0])

    def drop(self, statements: Sequence[str]) -> None:
        """Drop tables, as one transaction. SQLite goes through all of their pages, seconds for a gigabyte: it is waited for longer."""
        with self._host.patience(_DROP_SECONDS):
            self.write_all([(statement, ()) for statement in statements])

    def lead(self, word: Literal["begin", "commit", "rollback"]) -> None:
        """Begin a transaction to which all further requests belong, or end it."""
        self._host.call(word)

    def another(self) -> Link:
        """A further connection, which ends with this one at the latest."""
        self._others.append(Link(self._address))
        return self._others[-1]

    def close(self) -> None:
        for other in self._others:
            other.close()
        self._host.close()
