-- ARGV: how many pairs are expected, the expected field, value, ..., then the new field, value, ...
local expected = tonumber(ARGV[1])
if expected == 0 or redis.call('HLEN', KEYS[1]) ~= expected then return 0 end
local last = 1 + 2 * expected
for i = 2, last, 2 do
  if redis.call('HGET', KEYS[1], ARGV[i]) ~= ARGV[i + 1] then return 0 end
end
if #ARGV == last then return refuse_empty() end
replace('HSET', KEYS[1], ARGV, last + 1, #ARGV)
return 1
