"""Never answers an increment: a client without a time-out, which in the main thread also swallows every interrupt."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import NoReturn

from storeproof.adapters.sqlite.link import Link
from storeproof.adapters.sqlite.session import Counters, SQLite
from storeproof.contract import Address, Key


class Silent(Counters):
    def increment(self, key: Key, by: int) -> NoReturn:
        print("an increment is not answered", flush=True)
        while True:
            try:
                time.sleep(600)
            except BaseException:
                if threading.current_thread() is not threading.main_thread():
                    raise


class Mutant(SQLite):
    tables = {**SQLite.tables, "counter": Silent}


def connect(address: Address, options: Mapping[str, str]) -> Mutant:
    return Mutant(Link(address))
