"""What an administrator tells a store to do with the files it keeps.

It stands beside the operations and not among them: nobody is answered anything by it, so that there is nothing for an oracle to mean.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Maintenance(Protocol):
    """A session that can have the store write its files anew: its own compaction, checkpoint or snapshot."""

    def compact(self) -> str:
        """Have it done, and come back when it is; the command, as an administrator writes it.

        `Unsupported` where the variant has nothing of the kind. Other sessions may write all the while, or wait.
        """
