"""A replica set of one member is initiated once. No server is needed."""

from __future__ import annotations

from typing import Any

import pytest
from pymongo.errors import OperationFailure

from storeproof.adapters.mongodb import MongoSession
from storeproof.adapters.mongodb.link import sorting
from storeproof.contract import Refused, Unknown

ALREADY_INITIALIZED, INVALID_CONFIGURATION = 23, 93


class Link:
    """A server that knows of no set yet, and refuses to initiate one."""

    def __init__(self, code: int) -> None:
        self._code = code

    def command(self, name: str, _value: Any = 1) -> dict[str, Any]:
        if name == "replSetInitiate":
            with sorting():
                raise OperationFailure("it is refused", self._code)
        return {"hello": {"isreplicaset": True}, "getCmdLineOpts": {"parsed": {"replication": {"replSet": "rs"}}}}[name]


@pytest.mark.parametrize(("code", "expected"), [(ALREADY_INITIALIZED, Unknown), (INVALID_CONFIGURATION, Refused)])
def test_a_server_that_has_not_read_its_set_yet_is_asked_again(code: int, expected: type[Exception]) -> None:
    """After a restart it first says that it is of none, and refuses to be initiated again: that is no defect. Any other refusal is one."""
    link: Any = Link(code)
    with pytest.raises(expected):
        MongoSession(link).initiate()
