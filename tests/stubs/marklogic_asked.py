"""The stub asked by the adapter, as its tests share it."""

from __future__ import annotations

from typing import Any, Final

from storeproof.adapters import marklogic as adapter
from storeproof.contract import Address, Layout
from tests.shipped import SHIPPED
from tests.stubs.marklogic.server import Server

OPTIONS: Final = {"range-indexes": "asked", "update-policy": "merge-metadata"}
PASSWORD: Final = "s3cret"
MODELS: Final = SHIPPED.models


def url(server: Server, password: str = PASSWORD) -> str:
    return f"http://anna:{password}@127.0.0.1:{server.port}?manage={server.port}"


def session(server: Server, **options: str) -> adapter.MarkLogicSession:
    return adapter.connect(Address("127.0.0.1", server.port, "anna", PASSWORD, ports={"manage": server.port}), OPTIONS | options)


def collection(server: Server, model: str, indexes: int = 0, **options: str) -> Any:
    """A prepared collection of the adapter's."""
    made = session(server, **options).collection(Layout("sp_test", MODELS[model], indexes))
    made.prepare()
    return made
