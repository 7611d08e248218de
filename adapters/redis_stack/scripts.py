"""The Lua scripts of the Redis Stack adapter, in the files beside: what RedisJSON has no single command for, in one step.

KEYS[1] is the record's key; `redis_stack.path` says how the record is stored.
"""

from __future__ import annotations

from typing import Final

from storeproof.adapters.redis.scripts import Script


def _script(*names: str) -> Script:
    return Script(*names, package=__package__)


GET_AND_SET: Final = _script("get_and_set.lua")
COMPARE_AND_SET: Final = _script("compare_and_set.lua")
SET_PATHS: Final = _script("set_paths.lua")
UNSET: Final = _script("unset.lua")
INCREMENT: Final = _script("increment.lua")
PUSH: Final = _script("list.lua", "push.lua")
INSERT: Final = _script("list.lua", "insert.lua")
PULL: Final = _script("list.lua", "pull.lua")
ADD_TO_SET: Final = _script("list.lua", "add_to_set.lua")
