"""A transaction around a block, which ends with the block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from storeproof.contract.failures import Refused, Unsupported
from storeproof.contract.sessions import Transactions
from storeproof.spec.interleaving import Isolation


@dataclass
class OpenTransaction:
    """What becomes of it."""

    rolls_back: bool = False
    """Whether it is rolled back at its end, on purpose; set by the block."""
    commits: bool = False
    """Whether its commit was sent: if not it leaves nothing, whatever became of its connection."""


@contextmanager
def transaction(session: object, isolation: Isolation, opened: OpenTransaction | None = None) -> Iterator[None]:
    """Begin, and commit after the block.

    Args:
        session: one with transactions.
        opened: told what becomes of it.

    Raises:
        Refused, Unsupported: nothing of it happened.
        Unknown: all of it may have happened, or nothing.
    """
    assert isinstance(session, Transactions), "the variant claims transactions"
    opened = opened or OpenTransaction()
    session.begin(isolation)
    try:
        yield
        if opened.rolls_back:
            session.rollback()
        else:
            opened.commits = True
            session.commit()
    except (Refused, Unsupported):
        session.rollback()
        raise
