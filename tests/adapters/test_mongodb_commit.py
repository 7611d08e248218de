"""What became of a transaction whose commit failed. No server is needed."""

from __future__ import annotations

from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.errors import AutoReconnect, ConfigurationError, OperationFailure

from storeproof.adapters.mongodb.link import Concerns, Link
from storeproof.contract import Refused, Unknown


class Session:
    """Its commit fails."""

    def __init__(self, failure: Exception) -> None:
        self._failure = failure

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None: ...

    def commit_transaction(self) -> None:
        raise self._failure


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (OperationFailure("WriteConflict", 112), Refused),
        (OperationFailure("NoSuchTransaction", 251), Unknown),
        (AutoReconnect("timed out"), Unknown),
        (ConfigurationError("Sessions are not supported by this MongoDB deployment"), Unknown),
    ],
    ids=["conflict", "no-such-transaction", "no-reply", "no-server-known"],
)
def test_a_commit_that_was_sent_again_may_have_happened(failure: Exception, expected: type[Exception]) -> None:
    """The client tells the last error alone; only an answer that says why it was not committed is a refusal."""
    link = Link(lambda: MongoClient("127.0.0.1", 1, connect=False), "db", Concerns())
    session: Any = Session(failure)
    link._transaction = session
    with pytest.raises(expected):
        link.commit()
    link.close()
