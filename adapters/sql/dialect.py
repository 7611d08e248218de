"""What differs between SQL stores in statements that are otherwise the same, and how a statement is sent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

from storeproof.contract import Refused


class Link(Protocol):
    """One connection."""

    def read(self, statement: str, /, *values: Any) -> Sequence[Sequence[Any]]:
        """The rows that a statement answers."""

    def change(self, statement: str, /, *values: Any) -> int:
        """The number of rows that a statement changed."""


class Dialect(ABC):
    """Names, values and clauses as one store writes them."""

    mark = "%s"
    """The placeholder of a value."""

    def table(self, name: str) -> str:
        return f'"{name}"'

    def column(self, name: str) -> str:
        """The name of a column of ours, quoted where the store has words that it may be taken for."""
        return f'"{name}"'

    def placeholder(self, kind: str) -> str:  # noqa: ARG002  # a store that infers no types has the kind in it
        """The placeholder of a value for a column of this type."""
        return self.mark

    def placeholders(self, kinds: Sequence[str]) -> str:
        """The placeholders of a row's values."""
        return ", ".join(map(self.placeholder, kinds))

    def marks(self, count: int) -> str:
        """As many placeholders of keys."""
        return ", ".join([self.mark] * count)

    def selected(self, name: str, kind: str) -> str:  # noqa: ARG002  # as above
        """How a column of this type is read."""
        return self.column(name)

    @abstractmethod
    def upsert(self, columns: Sequence[str]) -> str:
        """What follows an INSERT that is to replace columns of a row with the same primary key, which is `k`."""

    def text(self, text: str, what: str) -> Any:
        """A key or a member as it is stored: its UTF-8 bytes, exact and in the order of code points, whatever the collation."""
        try:
            return text.encode()
        except UnicodeEncodeError as reason:
            raise Refused(f"the {what} is not a string of Unicode scalar values: {reason}") from reason

    def to_text(self, stored: Any) -> str:
        """The key or member that is stored like this."""
        text: str = stored.decode()
        return text

    def integer(self, number: int) -> Any:
        """A whole number as a value of a statement: of one type whatever its size."""
        return number

    def above(self, row: Sequence[str], other: Sequence[str]) -> str:
        """Whether one row of columns is greater than another, compared from the left."""
        return f"({', '.join(row)}) > ({', '.join(other)})"
