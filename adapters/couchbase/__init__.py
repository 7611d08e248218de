"""Couchbase Server (7 and later), through its Python SDK: keys and parts of documents by the data service, the rest by SQL++.

Not verified against a server, which no package registry has. What goes by key was tried on the vendor's mock
(tests/stubs/), SQL++ by its text alone. The search service and transactions over several documents are not used.

A collection of ours is a Couchbase collection in the scope `_default` of one bucket.
"""

from __future__ import annotations

import base64
import http.client
import json
import re
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final

from couchbase import exceptions as errors
from couchbase.auth import PasswordAuthenticator
from couchbase.bucket import Bucket
from couchbase.cluster import Cluster
from couchbase.diagnostics import ServiceType
from couchbase.options import ClusterOptions, ClusterTimeoutOptions, PingOptions

from storeproof.adapters.couchbase.queries import Keyspace, QueriedCounters, QueriedDocuments, QueriedHashes, QueriedRows, QueriedValues
from storeproof.adapters.couchbase.records import LEVELS, Records, failure_of, run
from storeproof.contract import Address, Layout, Refused, Unknown, Unsupported, Version
from storeproof.spec import model as shapes

_TIMEOUT: Final = 5.0
"""Seconds to wait for a connection or for a reply."""

_BUCKET: Final = "storeproof"
"""Where an address names none."""

_SCOPE: Final = "_default"

_KNOWN_SECONDS: Final = 10.0
"""How long a new collection may take to be known to the data service."""

_MANAGEMENT: Final = 8091
"""The port at which a server says whether it was set up, where the address names none as `manage`."""


class Named:
    """A collection of its own."""

    prefix = ""

    def __init__(self, bucket: Bucket, name: str) -> None:
        self._bucket = bucket
        self._name = name
        self.keyspace = run(bucket.scope(_SCOPE).collection, name)

    def create(self) -> None:
        """Create it, and wait until the data service knows of it."""
        with suppress(errors.CollectionAlreadyExistsException):
            self._managed(self._bucket.collections().create_collection)
        deadline = time.monotonic() + _KNOWN_SECONDS
        while True:
            try:
                self.keyspace.exists("storeproof")
            except (errors.CollectionNotFoundException, errors.UnAmbiguousTimeoutException) as reason:
                if time.monotonic() > deadline:
                    raise failure_of(reason) from reason
            except errors.CouchbaseException as reason:
                raise failure_of(reason) from reason
            else:
                return

    def drop(self) -> None:
        with suppress(errors.CollectionNotFoundException):
            self._managed(self._bucket.collections().drop_collection)

    def _managed(self, change: Any) -> None:
        try:
            change(_SCOPE, self._name)
        except (errors.CollectionAlreadyExistsException, errors.CollectionNotFoundException):
            raise
        except errors.CouchbaseException as reason:
            raise failure_of(reason) from reason


class CouchbaseSession:
    """One cluster object, with connections of its own to each service."""

    def __init__(self, cluster: Cluster, address: Address, durability: str) -> None:
        self.cluster = cluster
        self.durability = durability
        self._address = address
        self.bucket: Bucket = run(cluster.bucket, address.database or _BUCKET)

    def version(self) -> Version:
        """By the management service. What calls itself by no number is another product."""
        found = str(self._managed("/pools").get("implementationVersion", ""))
        if re.match(r"\d+\.\d+", found):
            return Version("Couchbase Server", found)
        return Version(found or "(a server without a name)", "(no version)")

    def read_settings(self, names: Sequence[str]) -> Mapping[str, str]:
        """The bucket's, as the management service calls them; what it does not say is left out."""
        if not names:
            return {}
        found = self._managed(f"/pools/default/buckets/{self.bucket.name}")
        return {name: str(found[name]) for name in names if name in found}

    def collection(self, layout: Layout) -> Records:
        place = Named(self.bucket, layout.name)
        keyspace = Keyspace(self.cluster, self.bucket.name, _SCOPE, layout.name, self.durability)
        record = layout.model.record
        if isinstance(record, shapes.Value):
            return QueriedValues(place, keyspace, layout, self.durability)
        if isinstance(record, shapes.CounterRecord):
            return QueriedCounters(place, keyspace, layout, self.durability)
        if isinstance(record, shapes.Hash):
            return QueriedHashes(place, keyspace, layout, self.durability)
        if isinstance(record, shapes.RowRecord):
            return QueriedRows(place, keyspace, layout, self.durability)
        if isinstance(record, shapes.Document):
            return QueriedDocuments(place, keyspace, layout, self.durability)
        raise Unsupported(f"the adapter does not support {layout.model.model} in Couchbase")

    def close(self) -> None:
        with suppress(Exception):
            self.cluster.close()

    def _managed(self, path: str) -> dict[str, Any]:
        """What the management service answers. The SDK says where it is; for these questions it has no words of its own."""
        pinged = run(self.cluster.ping, PingOptions(service_types=[ServiceType.Management]))
        host, _, port = pinged.endpoints[ServiceType.Management][0].remote.rpartition(":")
        return _asked(self._address, host.strip("[]"), int(port), path)


def connect(address: Address, options: Mapping[str, str]) -> CouchbaseSession:
    """Open one session. The address is that of the data service, and its database the bucket.

    `options`: `durability`, one of none, majority, majority_and_persist_active and persist_to_majority.

    Raises:
        Refused: wrong credentials, or an option that is not known.
        Unknown: no server answers, or the server is not set up yet.
    """
    if set(options) - {"durability"} or options.get("durability", "none") not in LEVELS:
        raise Refused(f"the only option of the Couchbase adapter is `durability`, one of {', '.join(LEVELS)}; found {dict(options)}")
    try:
        # The SDK would wait its whole timeout where nothing listens yet; a starting store is polled often.
        socket.create_connection((address.host, address.port), timeout=_TIMEOUT).close()
    except OSError as reason:
        raise Unknown(f"no server listens on {address}: {reason}") from reason
    seconds = timedelta(seconds=_TIMEOUT)
    patience = ClusterTimeoutOptions(
        bootstrap_timeout=seconds,
        connect_timeout=seconds,
        kv_timeout=seconds,
        kv_durable_timeout=seconds,
        query_timeout=seconds,
        management_timeout=2 * seconds,
    )
    scheme = "couchbases" if address.tls else "couchbase"
    try:
        cluster = Cluster.connect(
            f"{scheme}://{address.host}:{address.port}",
            ClusterOptions(PasswordAuthenticator(address.user or "", address.password or ""), timeout_options=patience),
        )
    except errors.AuthenticationException as reason:
        if _is_set_up(address):
            raise failure_of(reason) from reason
        raise Unknown("the server is not set up yet") from reason
    except errors.CouchbaseException as reason:
        raise Unknown(str(failure_of(reason))) from reason
    try:
        return CouchbaseSession(cluster, address, options.get("durability", "none"))
    except (Refused, Unknown) as reason:
        with suppress(Exception):
            cluster.close()
        raise Unknown(str(reason)) from reason  # a bucket that is not there may be in the making


def _is_set_up(address: Address) -> bool:
    """Until a server is set up it knows no user, and refuses every one."""
    try:
        return bool(_asked(address, address.host, address.ports.get("manage", _MANAGEMENT), "/pools", known=False).get("pools"))
    except (Refused, Unknown):
        return True


def _asked(address: Address, host: str, port: int, path: str, *, known: bool = True) -> dict[str, Any]:
    """A GET of the management service; `known` is whether we say who we are."""
    secret = base64.b64encode(f"{address.user}:{address.password}".encode()).decode()
    make = http.client.HTTPSConnection if address.tls else http.client.HTTPConnection
    connection = make(host, port, timeout=_TIMEOUT)
    try:
        connection.request("GET", path, headers={"Authorization": f"Basic {secret}"} if known else {})
        answer = connection.getresponse()
        text = answer.read()
    except (OSError, ssl.SSLError, http.client.HTTPException) as reason:
        raise Unknown(f"the management service does not answer: {type(reason).__name__}: {reason}") from reason
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise Refused(f"the management service answers {answer.status} to {path}")
    found: dict[str, Any] = json.loads(text)
    return found
