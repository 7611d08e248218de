"""One kind of what belongs to records, written before a fault and looked at after it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from storeproof.contract import Layout, Session
from storeproof.spec.known_failure import CaseFinding

Part = Literal["rewritten", "logged"]
"""`rewritten`: written before the store rewrites its files, so that it is in those; `logged`: written after that, so that it is in the log
behind them."""


@dataclass(frozen=True)
class Offered:
    """What a variant claims, and new collections for it."""

    claims: Callable[[str], bool]
    """Whether it claims a capability, by its full name."""
    models: Collection[str]
    layout: Callable[..., Layout]
    """A collection with an unused name: of a model, and of a number of indexes (default: none)."""


class Aspect(ABC):
    """Written in two parts by one session, and looked at once by another."""

    name: ClassVar[str]
    """As messages have it: a plural."""

    def __init__(self, offered: Offered) -> None:
        self.offered = offered
        self.not_before = 0.0
        """When the fault may strike, on the monotonic clock."""
        self.due = 0.0
        """When it may be looked at."""
        self.shown = True
        """Whether it was looked at as a whole, so that nothing wrong means that it was kept."""
        self.told: list[str] = []
        """What the report says of it besides."""

    @property
    @abstractmethod
    def offers(self) -> bool:
        """Whether the variant claims what is written."""

    @abstractmethod
    def write(self, session: Session, part: Part) -> None:
        """Write one part.

        Raises:
            Refused, Unsupported, Unknown: as the adapter.
            MachineFailed: the machine stood still, so that it says nothing.
        """

    @abstractmethod
    def look(self, session: Session, *, moved: bool) -> Iterator[str | CaseFinding]:
        """What is not as it was, one line each. `moved`: clients find the store at another address than before.

        Raises:
            Refused, Unknown: as the adapter.
        """
