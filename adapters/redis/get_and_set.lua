-- ARGV: field, value, ...
if #ARGV == 0 then return refuse_empty() end
local old = redis.call('HGETALL', KEYS[1])
replace('HSET', KEYS[1], ARGV, 1, #ARGV)
return old
