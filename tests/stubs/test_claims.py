"""What is claimed of stores that no run has asked: their adapters at least have the operations."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.shipped import SHIPPED

pytest.importorskip("aerospike")
pytest.importorskip("couchbase")

from storeproof.adapters.aerospike import models as of_aerospike
from storeproof.adapters.couchbase import queries as of_couchbase
from storeproof.contract import OPERATIONS, Collection, Layout, supports
from storeproof.spec import SPEC_ROOT

SPEC = SHIPPED
AEROSPIKE = {
    "value": of_aerospike.Values,
    "counter": of_aerospike.Counters,
    "hash": of_aerospike.Hashes,
    "row": of_aerospike.Rows,
    "document": of_aerospike.Documents,
}
COUCHBASE = {
    "value": of_couchbase.QueriedValues,
    "counter": of_couchbase.QueriedCounters,
    "hash": of_couchbase.QueriedHashes,
    "row": of_couchbase.QueriedRows,
    "document": of_couchbase.QueriedDocuments,
}


def collection(store: str, model: str) -> Collection:
    """Of the adapter, with nothing behind it."""
    layout = Layout("sp_1", SPEC.models[model])
    kind = layout.model.record.kind
    if store == "aerospike":
        return AEROSPIKE[kind](None, "ns", layout)
    return COUCHBASE[kind](SimpleNamespace(keyspace=None, prefix=""), SimpleNamespace(name="c"), layout, "none")


@pytest.mark.parametrize("store", ["aerospike", "couchbase"])
def test_every_operation_of_a_claimed_capability_is_there(store: str) -> None:
    """An adapter has all operations of the capabilities that its file claims."""
    (target,) = SPEC.targets([store])
    claimed = {name: capability for name, capability in SPEC.capabilities.items() if target.claims(name)}
    assert len(claimed) > 15
    assert {capability.model for capability in claimed.values()} <= set(target.store.claims.models)
    lacking = {
        f"{name}: {step.do}"
        for name, capability in claimed.items()
        for case in capability.cases
        for step in case.steps
        if not supports(collection(store, capability.model), step.do)
    }
    assert lacking == set()
    assert not {name for name, capability in claimed.items() if any(case.indexes for case in capability.cases)} or store == "couchbase"


def test_what_is_marked_as_seen_on_the_mock_is_what_is_tried_on_it() -> None:
    """Claims marked as seen on the mock are those of the mock's own file."""
    marked = re.findall(r"^    (\S+): true  # mock$", (SPEC_ROOT / "stores" / "couchbase.yaml").read_text(), re.MULTILINE)
    (mock,) = SPEC.targets([str(Path(__file__).with_name("couchbase-mock.yaml"))])
    assert marked == sorted(name for name, claimed in mock.store.claims.capabilities.items() if claimed)
    (target,) = SPEC.targets(["couchbase"])
    assert all(target.claims(name) for name in marked)


@pytest.mark.parametrize("store", ["aerospike", "couchbase"])
def test_no_family_is_there_in_part(store: str) -> None:
    """Each operation that an adapter has is of a family that it has completely."""
    (target,) = SPEC.targets([store])
    for model in target.store.claims.models:
        made = collection(store, model)
        for operation in OPERATIONS.values():
            assert supports(made, operation.name) or not hasattr(made, operation.name), f"{operation.name} on {model}"
