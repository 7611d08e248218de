"""Stores for tests of the engine: a store file and an adapter that do what a test needs, and no server."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from storeproof.contract import Address
from storeproof.load.driver.driver_engine import DriverEngine
from storeproof.spec import Store, Target

_ADAPTER = '''
import ctypes, os, time
from storeproof.contract import Refused, Unknown, Version

records = {}
"""Of this process: clients of one worker share it."""

class Session:
    def __init__(self, address):
        self.address = address
    def version(self): return Version("Fake", "1")
    def read_settings(self, names): return {}
    def collection(self, layout): return Records()
    def close(self): pass

class Records:
    def prepare(self): pass
    def clear(self): records.clear()
    def describe(self): return {"indexes": "0"}
    def get(self, key): return records.get(key)
    def put(self, key, record):
        PUT
        records[key] = record
    def delete(self, key): return records.pop(key, None) is not None
    def exists(self, key): return key in records

def connect(address, options):
    CONNECT
    return Session(address)
'''


def engine_for(directory: Path, put: str = "pass", connect: str = "pass") -> DriverEngine:
    """An engine on a store kept in its workers' memory; `put` and `connect` are statements of its adapter."""
    (directory / "fake.py").write_text(dedent(_ADAPTER).replace("PUT", put, 1).replace("CONNECT", connect, 1))
    store = Store.model_validate(
        {
            "format": "2.0",
            "store": "fake",
            "title": "Fake",
            "product": "Fake",
            "adapter": "fake.py",
            "launch": {},
            "variants": {"plain": {"guarantee": "volatile", "default": True}},
            "claims": {"models": ["single_key"], "capabilities": {}},
        }
    )
    return DriverEngine(Target(store, "plain", directory / "fake.yaml"), Address("127.0.0.1", 1))
