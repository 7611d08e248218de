"""What an administrator has a store do with its files.

It is not an operation of `OPERATIONS`: it returns no data, so that there is no answer for an oracle to give.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Maintenance(Protocol):
    """A session that can have the store rewrite its files: its own compaction, checkpoint or snapshot."""

    def compact(self) -> str:
        """Run it and return when it is done; the command, as an administrator writes it.

        `Unsupported` where the variant has none. Other sessions may write meanwhile, or wait.
        """
