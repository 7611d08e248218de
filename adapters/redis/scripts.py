"""The Lua scripts of the Redis adapter: what Redis has no single command for, done inside the store, atomically and in one request."""

from __future__ import annotations

import hashlib
from typing import Final


class Script:
    """A Lua script, called by its digest once the server knows it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _writing(command: str) -> str:
    """Lua's `unpack` fails beyond some thousand items, and it would fail after the DEL: hence slices of 1000."""
    return f"""
local function write(key, items, first, last)
  for i = first, last, 1000 do
    redis.call('{command}', key, unpack(items, i, math.min(i + 999, last)))
  end
end
"""


# Without this check, to put a record without items would be to delete it.
_NO_EMPTY: Final = "if #ARGV == 0 then return redis.error_reply('ERR an empty record is none') end\n"


def _replacing(command: str) -> Script:
    """All that is under the key, by what is in ARGV."""
    return Script(_NO_EMPTY + _writing(command) + "redis.call('DEL', KEYS[1])\nwrite(KEYS[1], ARGV, 1, #ARGV)\nreturn 1")


_WRITE: Final = _writing("HSET")

# ARGV: field, value, ...
PUT: Final = _replacing("HSET")
PUT_IF_ABSENT: Final = Script(
    _NO_EMPTY + _WRITE + "if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end\nwrite(KEYS[1], ARGV, 1, #ARGV)\nreturn 1"
)
GET_AND_SET: Final = Script(
    _NO_EMPTY
    + _WRITE
    + "local old = redis.call('HGETALL', KEYS[1])\nredis.call('DEL', KEYS[1])\nwrite(KEYS[1], ARGV, 1, #ARGV)\nreturn old"
)

# ARGV: seconds, field, value, ...
PUT_EXPIRING: Final = Script(
    "if #ARGV == 1 then return redis.error_reply('ERR an empty record is none') end\n"
    + _WRITE
    + "redis.call('DEL', KEYS[1])\nwrite(KEYS[1], ARGV, 2, #ARGV)\nredis.call('EXPIRE', KEYS[1], ARGV[1])\nreturn 1"
)

# ARGV: how many pairs are expected, the expected field, value, ..., then the new field, value, ...
COMPARE_AND_SET: Final = Script(
    _WRITE
    + """
local expected = tonumber(ARGV[1])
if expected == 0 or redis.call('HLEN', KEYS[1]) ~= expected then return 0 end
local last = 1 + 2 * expected
for i = 2, last, 2 do
  if redis.call('HGET', KEYS[1], ARGV[i]) ~= ARGV[i + 1] then return 0 end
end
if #ARGV == last then return redis.error_reply('ERR an empty record is none') end
redis.call('DEL', KEYS[1])
write(KEYS[1], ARGV, last + 1, #ARGV)
return 1"""
)
COMPARE_AND_SET_STRING: Final = Script(
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end\nredis.call('SET', KEYS[1], ARGV[2])\nreturn 1"
)

# ARGV: for each key how many items are its, then all fields and values in the order of the keys.
PUT_MANY: Final = Script(
    _WRITE
    + """
for i = 1, #KEYS do
  if ARGV[i] == '0' then return redis.error_reply('ERR an empty record is none') end
end
local first = #KEYS + 1
for i = 1, #KEYS do
  local size = tonumber(ARGV[i])
  redis.call('DEL', KEYS[i])
  write(KEYS[i], ARGV, first, first + size - 1)
  first = first + size
end
return 1"""
)
GET_MANY: Final = Script("local found = {}\nfor i = 1, #KEYS do found[i] = redis.call('HGETALL', KEYS[i]) end\nreturn found")

PERSIST: Final = Script("redis.call('PERSIST', KEYS[1])\nreturn redis.call('EXISTS', KEYS[1])")

# ARGV: items; members; score, member, ...
PUT_LIST: Final = _replacing("RPUSH")
PUT_SET: Final = _replacing("SADD")
PUT_RANKING: Final = _replacing("ZADD")

# KEYS: from, to. ARGV: the amount, not negative. The sum that may be refused comes first, while nothing is written. Lua's
# numbers are doubles, and round beyond 2^53: where both are one double, the digits decide.
TRANSFER: Final = Script("""
local have, amount = redis.call('GET', KEYS[1]) or '0', ARGV[1]
local x, y = tonumber(have), tonumber(amount)
if x < y or (x == y and (#have < #amount or (#have == #amount and have < amount))) then return 0 end
redis.call('INCRBY', KEYS[2], amount)
redis.call('DECRBY', KEYS[1], amount)
return 1""")
