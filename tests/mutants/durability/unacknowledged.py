"""MongoDB, whose client does not wait for an answer to a put: write concern w: 0."""

from __future__ import annotations

from collections.abc import Mapping

from pymongo import WriteConcern

from storeproof.adapters import mongodb
from storeproof.adapters.mongodb.link import Link, sorting
from storeproof.adapters.mongodb.records import Records, Values
from storeproof.contract import Address, Key, Layout, Record

_NO_ANSWER = WriteConcern(w=0)


class Hurried(Values):
    """Values whose puts are acknowledged by the client itself."""

    def put(self, key: Key, record: Record) -> None:
        with sorting():
            self._collection.with_options(write_concern=_NO_ANSWER).replace_one({"_id": key}, self.encode(record), upsert=True)


class Session(mongodb.MongoSession):
    """A session in which values are hurried."""

    def __init__(self, link: Link) -> None:
        super().__init__(link)
        self._hurried = link

    def collection(self, layout: Layout) -> Records:
        return Hurried(self._hurried, layout) if layout.model.record.kind == "value" else super().collection(layout)


def connect(address: Address, options: Mapping[str, str]) -> Session:
    """Open one session."""
    honest = mongodb.connect(address, options)
    return Session(honest._link)
