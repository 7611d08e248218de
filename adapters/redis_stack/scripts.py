"""The Lua scripts of the Redis Stack adapter: what RedisJSON has no single command for, done inside the store in one step.

KEYS[1] is the record's, as `redis_stack_path` says it is stored.
"""

from __future__ import annotations

from typing import Final

from storeproof.adapters.redis.scripts import Script

# ARGV: what to store. Answers the document that was there.
GET_AND_SET: Final = Script(
    """local old = redis.call('JSON.GET', KEYS[1], '$["r"]["d"]')\nredis.call('JSON.SET', KEYS[1], '$', ARGV[1])\nreturn old"""
)

# ARGV: the document that is expected, what to store. JSONPath compares whole documents only where both are stored.
COMPARE_AND_SET: Final = Script("""
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('JSON.SET', KEYS[1], '$["r"]["c"]', ARGV[1])
local same = redis.call('JSON.GET', KEYS[1], '$[?(@["d"]==@["c"])]["k"]')
if same == '[]' then
  redis.call('JSON.DEL', KEYS[1], '$["r"]["c"]')
  return 0
end
redis.call('JSON.SET', KEYS[1], '$', ARGV[2])
return 1""")

# ARGV: a path. Whether there is a record.
UNSET: Final = Script("redis.call('JSON.DEL', KEYS[1], ARGV[1])\nreturn redis.call('EXISTS', KEYS[1])")

# ARGV: a path, a number. RedisJSON's sums of integers wrap at 64 bits: a sum on the wrong side of what was there is undone and refused.
INCREMENT: Final = Script("""
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local old = redis.call('JSON.GET', KEYS[1], ARGV[1])
if old == '[]' then
  if not redis.call('JSON.SET', KEYS[1], ARGV[1], ARGV[2]) then return redis.error_reply('ERR there is no object to add the number to') end
  return '[' .. ARGV[2] .. ']'
end
local new = redis.call('JSON.NUMINCRBY', KEYS[1], ARGV[1], ARGV[2])
if new == '[null]' then return redis.error_reply('ERR there is no number at the path') end
local before, by, after = tonumber(string.sub(old, 2, -2)), tonumber(ARGV[2]), tonumber(string.sub(new, 2, -2))
if (by > 0 and after < before) or (by < 0 and after > before) then
  redis.call('JSON.SET', KEYS[1], ARGV[1], string.sub(old, 2, -2))
  return redis.error_reply('ERR the sum is beyond 64 bits')
end
return new""")

_LIST: Final = """
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local kind = redis.call('JSON.TYPE', KEYS[1], ARGV[1])
if kind[1] ~= 'array' then return redis.error_reply('ERR there is no list at the path') end
"""

# ARGV: the path of a list, an item.
PUSH: Final = Script(_LIST + "redis.call('JSON.ARRAPPEND', KEYS[1], ARGV[1], ARGV[2])\nreturn 1")
# ARGV: the path of a list, an item, a position.
INSERT: Final = Script(_LIST + "redis.call('JSON.ARRINSERT', KEYS[1], ARGV[1], ARGV[3], ARGV[2])\nreturn 1")
# ARGV: the path of a list, an item. Items that are equal are found by comparing them with one that is stored beside.
PULL: Final = Script(
    _LIST
    + """redis.call('JSON.SET', KEYS[1], '$["r"]["c"]', ARGV[2])
redis.call('JSON.DEL', KEYS[1], ARGV[1] .. '[?(@==$["r"]["c"])]')
redis.call('JSON.DEL', KEYS[1], '$["r"]["c"]')
return 1"""
)
ADD_TO_SET: Final = Script(
    _LIST
    + """redis.call('JSON.SET', KEYS[1], '$["r"]["c"]', ARGV[2])
local same = redis.call('JSON.GET', KEYS[1], ARGV[1] .. '[?(@==$["r"]["c"])]')
redis.call('JSON.DEL', KEYS[1], '$["r"]["c"]')
if same == '[]' then redis.call('JSON.ARRAPPEND', KEYS[1], ARGV[1], ARGV[2]) end
return 1"""
)
