-- ARGV: a path, a number. RedisJSON's sums of integers wrap at 64 bits: a sum on the wrong side of what was there is undone and refused.
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local old = redis.call('JSON.GET', KEYS[1], ARGV[1])
if old == '[]' then
  if not redis.call('JSON.SET', KEYS[1], ARGV[1], ARGV[2]) then
    return redis.error_reply('ERR there is no object to add the number to')
  end
  return '[' .. ARGV[2] .. ']'
end
local new = redis.call('JSON.NUMINCRBY', KEYS[1], ARGV[1], ARGV[2])
if new == '[null]' then return redis.error_reply('ERR there is no number at the path') end
local before, by, after = tonumber(string.sub(old, 2, -2)), tonumber(ARGV[2]), tonumber(string.sub(new, 2, -2))
if (by > 0 and after < before) or (by < 0 and after > before) then
  redis.call('JSON.SET', KEYS[1], ARGV[1], string.sub(old, 2, -2))
  return redis.error_reply('ERR the sum is beyond 64 bits')
end
return new
