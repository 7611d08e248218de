"""What an adapter offers: plain values in and out, one optional protocol per family of operations."""

from storeproof.contract.address import Address
from storeproof.contract.failures import Breach, Refused, Unknown, Unsupported
from storeproof.contract.families import (
    Aggregate,
    BatchRead,
    BatchWrite,
    Bulk,
    Collection,
    Conditional,
    Count,
    Counter,
    Expiry,
    Facets,
    Fields,
    Find,
    KeyValue,
    Ordered,
    Paths,
    Session,
    Version,
)
from storeproof.contract.guard import call, supports
from storeproof.contract.load_adapter import Adapter, load_adapter
from storeproof.contract.operations import OPERATIONS, Operation
from storeproof.contract.values import MISSING, Found, Json, Key, Layout, Missing, Path, Record, Row

__all__ = [
    "MISSING",
    "OPERATIONS",
    "Adapter",
    "Address",
    "Aggregate",
    "BatchRead",
    "BatchWrite",
    "Breach",
    "Bulk",
    "Collection",
    "Conditional",
    "Count",
    "Counter",
    "Expiry",
    "Facets",
    "Fields",
    "Find",
    "Found",
    "Json",
    "Key",
    "KeyValue",
    "Layout",
    "Missing",
    "Operation",
    "Ordered",
    "Path",
    "Paths",
    "Record",
    "Refused",
    "Row",
    "Session",
    "Unknown",
    "Unsupported",
    "Version",
    "call",
    "load_adapter",
    "supports",
]
