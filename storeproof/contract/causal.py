"""Sessions that can be told what a client has seen elsewhere."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Causal(Protocol):
    """A session of a client that uses several, with the same node or others, one after the other."""

    def position(self) -> Any:
        """What this session has written and read so far, in the store's own terms, for `follow` of another one; None before a request."""

    def follow(self, position: Any) -> None:
        """Show no less than that from now on: a read waits until its node has it, and is `Unknown` if that takes too long.

        `position`: of any session of this store; None tells nothing. What this session has seen itself counts too.
        """
