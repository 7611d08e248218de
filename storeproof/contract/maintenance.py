"""Maintenance of a store's files, as an administrator would trigger it.

It is not one of `OPERATIONS`: it returns no data, so there is no answer for an oracle to compute.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Maintenance(Protocol):
    """A session that can make the store rewrite its files: compaction, checkpoint or snapshot."""

    def compact(self) -> str:
        """Run it, and return the command when it has finished, as an administrator would write it.

        `Unsupported` if the variant has none. Other sessions may write meanwhile, or wait.
        """
