"""Normalises keys, so that two keys of other code points become one."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import SQLite, Values
from storeproof.contract import Address, Key, Record


class NormalisedValues(Values):
    def put(self, key: Key, record: Record) -> None:
        super().put(_normalised(key), record)

    def get(self, key: Key) -> Record | None:
        return super().get(_normalised(key))


def _normalised(key: Key) -> Key:
    return unicodedata.normalize("NFC", str(key))


class Mutant(SQLite):
    tables = {**SQLite.tables, "value": NormalisedValues}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
