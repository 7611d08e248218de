-- KEYS: from, to. ARGV: the amount, not negative. The sum that may be refused comes first, while nothing is written. Lua's
-- numbers are doubles, and round beyond 2^53: where both are one double, the digits decide.
local have, amount = redis.call('GET', KEYS[1]) or '0', ARGV[1]
local x, y = tonumber(have), tonumber(amount)
if x < y or (x == y and (#have < #amount or (#have == #amount and have < amount))) then return 0 end
redis.call('INCRBY', KEYS[2], amount)
redis.call('DECRBY', KEYS[1], amount)
return 1
