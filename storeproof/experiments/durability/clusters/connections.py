"""At which node each client of a cluster writes: an acknowledgement is that of the node which the client is connected to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter

from storeproof.evidence import Connection
from storeproof.experiments.durability.clusters.round_record import Sent


class Connections:
    """All that were opened. Clients note theirs from their own threads."""

    def __init__(self, opened: Iterable[Connection] = ()) -> None:
        """`opened`: in the order in which each client opened its own."""
        self._opened: dict[int, list[Connection]] = {}
        for client, of_client in groupby(opened, key=attrgetter("client")):
            self._opened.setdefault(client, []).extend(of_client)

    def opened(self, client: int, moment: int, node: str) -> None:
        """That client uses a connection with that node from now on. `moment`: nanoseconds on the clock of the operations."""
        of_client = self._opened.setdefault(client, [])
        if not of_client or of_client[-1].node != node:
            of_client.append(Connection(client, moment, node))

    @property
    def all(self) -> list[Connection]:
        """By client, in the order in which each opened its own."""
        return [each for client in sorted(self._opened) for each in self._opened[client]]

    def node_of(self, operation: Sent) -> str | None:
        """The node that it was sent to; None if its client is none of these."""
        opened = self._opened.get(operation.client, ())
        found = bisect_right(opened, operation.invoked, key=attrgetter("moment"))
        return opened[found - 1].node if found else None
