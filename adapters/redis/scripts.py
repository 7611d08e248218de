"""The Lua scripts of the Redis adapter, in the files beside: what Redis has no single command for, atomically and in one request."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import Final


class Script:
    """A Lua script, called by its digest once the server knows it.

    It is the text of one file, or of several, one after another: later ones see the `local` functions of earlier ones. `writes`: whether it
    may write records.
    """

    def __init__(self, *names: str, package: str = __package__, writes: bool = True) -> None:
        self.text = "".join(files(package).joinpath(name).read_text(encoding="utf-8") for name in names)
        self.writes = writes
        self.digest = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()


PUT: Final = Script("records.lua", "put_hash.lua")
PUT_LIST: Final = Script("records.lua", "put_list.lua")
PUT_SET: Final = Script("records.lua", "put_set.lua")
PUT_RANKING: Final = Script("records.lua", "put_ranking.lua")
PUT_IF_ABSENT: Final = Script("records.lua", "put_if_absent.lua")
PUT_EXPIRING: Final = Script("records.lua", "put_expiring.lua")
PUT_MANY: Final = Script("records.lua", "put_many.lua")
INSERT_MANY: Final = Script("records.lua", "insert_many.lua")
GET_MANY: Final = Script("get_many.lua", writes=False)
GET_AND_SET: Final = Script("records.lua", "get_and_set.lua")
COMPARE_AND_SET: Final = Script("records.lua", "compare_and_set.lua")
COMPARE_AND_SET_STRING: Final = Script("compare_and_set_string.lua")
PERSIST: Final = Script("persist.lua")
TRANSFER: Final = Script("transfer.lua")
