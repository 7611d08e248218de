"""The adapter of the vendor's CouchbaseMock: that of Couchbase, where the mock can follow.

The mock has no collections, no SQL++ and no durability. So records share the bucket's default collection, under keys that
begin with the name of their collection, and what goes by queries is left out. All else is the code that speaks to the
real server, over the same SDK.
"""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from storeproof.adapters import couchbase
from storeproof.adapters.couchbase.models import Counters, Documents, Hashes, Rows, Values
from storeproof.adapters.couchbase.records import Records
from storeproof.contract import Address, Json, Key, Layout, Path, Unknown, Unsupported

BUCKET = "storeproof"
PASSWORD = "mock-password"


class ByKey(Documents):
    """Documents, without what the real adapter asks the query service for."""

    def pull_item(self, key: Key, path: Path, value: Json) -> bool:
        """A query."""
        raise Unsupported("the mock has no queries")

    add_to_set = pull_item


_KINDS = {"value": Values, "counter": Counters, "hash": Hashes, "row": Rows, "document": ByKey}


class Prefixed:
    """Keys with a prefix, in the default collection of the mock's only bucket."""

    def __init__(self, session: MockSession, name: str) -> None:
        self._session = session
        self.keyspace = session.bucket.default_collection()
        self.prefix = f"{name}:"

    def create(self) -> None:
        """Nothing is to be made."""

    def drop(self) -> None:
        """Empty the bucket: the mock lists no keys, and it is ours alone."""
        _asked(self._session.rest, f"/pools/default/buckets/{BUCKET}/controller/doFlush", b"")


class MockSession(couchbase.CouchbaseSession):
    """A session of the real adapter with other places for records, and without queries."""

    def __init__(self, session: couchbase.CouchbaseSession, rest: Address) -> None:
        self.__dict__.update(session.__dict__)
        self.rest = rest

    def collection(self, layout: Layout) -> Records:
        """The classes that go by key."""
        kind = _KINDS.get(layout.model.record.kind)
        if kind is None or layout.indexes:
            raise Unsupported(f"the mock keeps no {layout.model.model} with {layout.indexes} indexes")
        return kind(Prefixed(self, layout.name), layout, self.durability)


def connect(address: Address, options: Mapping[str, str]) -> MockSession:
    """Open one session; the address is that of the mock's REST service, which is asked for the port of the data service."""
    _asked(address, f"/mock/set_cccp?enabled=true&bucket={BUCKET}")  # the SDK has no other way to learn of the cluster
    (port,) = _asked(address, f"/mock/get_mcports?bucket={BUCKET}")["payload"]
    return MockSession(couchbase.connect(Address(address.host, port, BUCKET, PASSWORD, BUCKET), options), address)


def _asked(address: Address, path: str, body: bytes | None = None) -> dict[str, Any]:
    who = base64.b64encode(f"{BUCKET}:{PASSWORD}".encode()).decode()
    request = urllib.request.Request(f"http://{address}{path}", body, {"Authorization": f"Basic {who}"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            found: dict[str, Any] = json.loads(answer.read() or b"{}")
    except (urllib.error.URLError, OSError, ValueError) as reason:
        raise Unknown(f"the mock does not answer: {reason}") from reason
    return found
