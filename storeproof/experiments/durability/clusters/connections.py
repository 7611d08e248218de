"""At which node each client of a cluster writes: an acknowledgement is that of the node which the client is connected to."""

from __future__ import annotations

from storeproof.experiments.durability.clusters.round_record import Sent


class Connections:
    """All that were opened. Clients note theirs from their own threads."""

    def __init__(self) -> None:
        self._opened: dict[int, list[tuple[int, str]]] = {}

    def opened(self, client: int, moment: int, node: str) -> None:
        """That client uses a connection with that node from now on. `moment`: nanoseconds on the clock of the operations."""
        self._opened.setdefault(client, []).append((moment, node))

    def node_of(self, operation: Sent) -> str | None:
        """The node that it was sent to; None if its client is none of these."""
        found = None
        for moment, node in self._opened.get(operation.client, ()):
            if moment > operation.invoked:
                break
            found = node
        return found
