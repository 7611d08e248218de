"""NDB Cluster on several hosts: data nodes that each have all rows, a management server, and MySQL servers for clients.

There is no primary: every server that reaches a data node takes writes, and a write is acknowledged when all data nodes have it in memory.
Of data nodes that miss each other only one goes on: the one that the management server, the arbitrator, lets. So servers that take writes
are all on one side. Clients are sent to the first of them, in the order of the store's file.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Final

from storeproof.adapters.mysql.asking import ask
from storeproof.contract import Address, NodeAddresses, Unknown, answering

_DATA_NODE: Final = "ndbmtd"
_MANAGEMENT: Final = "ndb_mgmd"
"""Names of services in the store's file."""

_WRITE: Final = "REPLACE INTO mysql.ndb_apply_status VALUES (CRC32(@@server_uuid), 0, '', 0, 0)"
"""To a table that the cluster itself makes; each server has a row of its own, since one may wait for a data node with its row locked."""
_READY: Final = "SHOW GLOBAL STATUS LIKE 'Ndb_number_of_ready_data_nodes'"
_REFUSED_SECONDS: Final = 2.0
"""For a refusal of the management server. That it has ended the data nodes it was seen to say more than 20 s after they had ended."""


class Ndb:
    """See `Cluster` and `EndsAsWhole`. Servers and data nodes join when they start; the management server knows them by their hosts."""

    def form(self, nodes: NodeAddresses) -> None:
        """Nothing."""

    def primary(self, nodes: NodeAddresses) -> str:
        """The first server that takes a write."""
        for name in answering(nodes, _ready_nodes):
            return name
        raise Unknown("no server takes writes")

    def whole(self, nodes: NodeAddresses) -> None:
        """All servers take writes and definitions, and reach all data nodes; one counts when it has copied what it missed."""
        data_nodes = sum(_DATA_NODE in address.ports for address in nodes.values())
        for name, address in nodes.items():
            if (ready := _ready_nodes(address)) != data_nodes:
                raise Unknown(f"{name} reaches {ready} of {data_nodes} data nodes")
            _check_follows(name, address)

    def replace(self, node: str, nodes: NodeAddresses) -> None:
        """Nothing: a data node without data copies that of the other before it counts, and a server learns the tables from the cluster."""

    def end(self, nodes: NodeAddresses) -> None:
        """As `SHUTDOWN` of the management client does: the data nodes take no more transactions, write what they have to the disk, and end.

        A signal ends a data node at once, as a crash would.
        """
        for address in nodes.values():
            if _MANAGEMENT in address.ports:
                _shut_down(address.host, address.ports[_MANAGEMENT])


def _ready_nodes(address: Address) -> int:
    """How many data nodes that have started a server reaches. Raises `Unknown` if it does not answer, or takes no write."""
    ((_, ready),) = ask(address, _WRITE, _READY)
    return int(ready)


def _check_follows(name: str, address: Address) -> None:
    """Raise `Unknown` as long as a server answers "Cluster Failure" to the definition of a table.

    It has to follow the log of the cluster to the end of an epoch first. A cluster that starts from nothing counts epochs from the
    beginning; those of the one before count for nothing.
    """
    words = (word for *_, status in ask(address, "SHOW ENGINE NDB STATUS") for word in str(status).replace(",", " ").split())
    told = dict(word.split("=", 1) for word in words if "=" in word)
    latest, handled = (int(told.get(key, 0)) for key in ("latest_epoch", "latest_handled_binlog_epoch"))
    if not 0 < handled <= latest:
        raise Unknown(f"{name} has followed the cluster's epochs to {handled}, of {latest}")


def _shut_down(host: str, port: int) -> None:
    """Ask the management server, in its own protocol: lines of text, and an empty one. Raises `Unknown` if it refuses, or is not there."""
    reply = []
    try:
        with socket.create_connection((host, port), timeout=_REFUSED_SECONDS) as connection, connection.makefile("rwb") as stream:
            stream.write(b"stop all\nabort: 0\nstop: db\n\n")
            stream.flush()
            with suppress(TimeoutError):
                while line := stream.readline().strip():
                    reply.append(line.decode("utf-8", "replace"))
                if "result: Ok" not in reply:
                    raise Unknown(f"the management server says: {' '.join(reply) or 'nothing'}")
    except OSError as reason:
        raise Unknown(f"the management server does not answer: {reason}") from reason
