"""The range indexes of one collection: made through the management API, and waited for.

The server changes its indexes while it serves: it unmounts and mounts the forests, and indexes the documents again in the background.
Meanwhile queries are evaluated by the lowest common denominator of the settings and the documents, so that an index which is configured is
answered with XDMP-PATHRIDXNOTFOUND. It is there when the status of the database says nothing of reindexing, and queries by it are answered.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from storeproof.adapters.marklogic.link import NoIndex, Server
from storeproof.adapters.marklogic.query import RangeIndex, search
from storeproof.contract import Unknown

_SECONDS: Final = 60.0
"""How long an index may take until it can be used."""

_PAUSE: Final = 0.05
"""Seconds between two looks."""


class NoManagement(Unknown):
    """The management API does not answer."""


class Indexes:
    """The indexes that a collection needs. Others of the database stay as they are."""

    def __init__(self, server: Server, name: str, wanted: Sequence[RangeIndex]) -> None:
        self._server = server
        self._name = name
        self.wanted = wanted

    def make(self) -> None:
        """Add those that are missing, and wait until queries may use all of them.

        The management API replaces the whole list of a database. So the list is read again until ours are in it: another run may have
        written its own over them.

        Raises:
            NoManagement: the management API does not answer.
            Unknown: they cannot be used within a minute.
        """
        try:
            self._server.indexes()
        except Unknown as reason:
            raise NoManagement(str(reason)) from reason
        deadline = time.monotonic() + _SECONDS
        while lacking := self._lacking():
            if time.monotonic() > deadline:
                raise Unknown(f"the range indexes of {self._name} cannot be used after {_SECONDS:g} s: {lacking}")
            time.sleep(_PAUSE)

    def remove(self) -> None:
        """Remove all of the collection, wanted or not. Raises `Unknown`."""
        there = self._server.indexes()
        kept = [each for each in there if not each["path-expression"].startswith(f"/{self._name}/")]
        if len(kept) < len(there):
            self._server.set_indexes(kept)

    def _lacking(self) -> str:
        """What is missing until they can be used; empty if nothing is."""
        try:
            there = self._server.indexes()
            known = {each["path-expression"] for each in there}
            missing = [index for index in self.wanted if index.path not in known]
            if missing:
                self._server.set_indexes([*there, *(index.definition for index in missing)])
                return "they were just added"
            if self._server.reindexes():
                return "the database is being indexed again"
            self._server.search(search(self._probe(), False, (), None, ()))
        except (NoIndex, Unknown) as reason:  # also while the forests are mounted again
            return str(reason) or "the server does not answer"
        return ""

    def _probe(self) -> dict[str, object]:
        """A query that needs every index; what it finds is not looked at."""
        compared = [
            {"range-query": {**index.reference, "range-operator": "EQ", "value": ["" if index.type == "string" else 0]}}
            for index in self.wanted
        ]
        return {"queries": [{"or-query": {"queries": compared}}]}
