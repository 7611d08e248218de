"""Aerospike, through its Python client.

Not verified against a server, which no package registry has, and there is no mock that the vendor's clients take: what
was checked is the types, the pure parts, and what is asked of a stub of the client (tests/stubs/). Secondary indexes,
queries and TLS are not used.

A collection is a set of one namespace.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import aerospike
from aerospike import exception as failures

from storeproof.adapters.aerospike.models import Counters, Documents, Hashes, Rows, Values
from storeproof.adapters.aerospike.records import Records
from storeproof.adapters.aerospike.sorting import failure_of, run
from storeproof.contract import Address, Layout, Refused, Unknown, Unsupported, Version
from storeproof.spec import model as shapes

_TIMEOUT: Final = 5.0
"""Seconds to wait for a connection or for a reply."""

_NAMESPACE: Final = "storeproof"
"""Where an address names none."""


class AerospikeSession:
    """One client, with connections of its own to each node."""

    def __init__(self, client: Any, namespace: str) -> None:
        self.client = client
        self.namespace = namespace

    def version(self) -> Version:
        """By the info protocol: the edition, which begins with the product's name, and the build."""
        edition, build = self._info("edition"), self._info("build")
        return Version("Aerospike" if edition.startswith("Aerospike") else edition, f"{build} ({edition})")

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """The namespace's, also those of its storage engine; a setting that the server does not have is left out."""
        if not names:
            return {}
        live = pairs(self._info(f"namespace/{self.namespace}"))
        return {name: live[key] for name in names for key in (name, f"storage-engine.{name}") if key in live}

    def collection(self, layout: Layout) -> Records:
        if layout.indexes:
            raise Unsupported("the adapter does not create secondary indexes in Aerospike")
        record = layout.model.record
        if isinstance(record, shapes.Value):
            return Values(self.client, self.namespace, layout)
        if isinstance(record, shapes.CounterRecord):
            return Counters(self.client, self.namespace, layout)
        if isinstance(record, shapes.Hash):
            return Hashes(self.client, self.namespace, layout)
        if isinstance(record, shapes.RowRecord):
            return Rows(self.client, self.namespace, layout)
        if isinstance(record, shapes.Document):
            return Documents(self.client, self.namespace, layout)
        raise Unsupported(f"the adapter does not support {layout.model.model} in Aerospike")

    def close(self) -> None:
        with suppress(Exception):
            self.client.close()

    def _info(self, command: str) -> str:
        return str(run(self.client.info_random_node, command)).partition("\t")[2].strip()


def pairs(answer: str) -> dict[str, str]:
    """The names and values in an answer of the info protocol, `name=value;name=value`."""
    return {name: value for name, equals, value in (each.partition("=") for each in answer.split(";")) if equals}


def connect(address: Address, options: Mapping[str, str]) -> AerospikeSession:
    """Open one session; the address's database is the namespace.

    Raises:
        Refused: wrong credentials, or an option.
        Unknown: no server answers.
    """
    if options:
        raise Refused(f"the Aerospike adapter has no options; found {', '.join(options)}")
    try:
        socket.create_connection((address.host, address.port), timeout=_TIMEOUT).close()
    except OSError as reason:
        raise Unknown(f"nothing listens on {address}: {reason}") from reason
    milliseconds = int(_TIMEOUT * 1000)
    once = {"max_retries": 0, "total_timeout": milliseconds, "socket_timeout": milliseconds}
    config: dict[str, Any] = {
        "hosts": [(address.host, address.port)],
        "connect_timeout": milliseconds,
        "policies": dict.fromkeys(("read", "write", "operate", "remove", "batch", "batch_parent_write"), once),
    }
    if address.user:
        config |= {"user": address.user, "password": address.password or ""}
    try:
        client = aerospike.client(config)
        client.connect()
    except failures.AerospikeError as reason:
        raise failure_of(reason) from reason
    return AerospikeSession(client, address.database or _NAMESPACE)
