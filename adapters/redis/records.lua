-- What scripts that write whole records begin with.

-- `unpack` fails beyond some thousand items, and it would fail after the DEL: hence slices of 1000.
local function write(command, key, items, first, last)
  for i = first, last, 1000 do
    redis.call(command, key, unpack(items, i, math.min(i + 999, last)))
  end
end

-- Put a record, the items from `first` to `last`, in place of what is there.
local function replace(command, key, items, first, last)
  redis.call('DEL', key)
  write(command, key, items, first, last)
end

-- Without this answer, to put a record without items would be to delete it.
local function refuse_empty()
  return redis.error_reply('ERR a record without items cannot be stored')
end

-- Of each key, by `write` or `replace`: the numbers of their items come first, then all items in the order of the keys.
local function put_all(put)
  for i = 1, #KEYS do
    if ARGV[i] == '0' then return refuse_empty() end
  end
  local first = #KEYS + 1
  for i = 1, #KEYS do
    local size = tonumber(ARGV[i])
    put('HSET', KEYS[i], ARGV, first, first + size - 1)
    first = first + size
  end
  return 1
end
