-- ARGV: for each key the number of its items, then all fields and values in the order of the keys
for i = 1, #KEYS do
  if ARGV[i] == '0' then return refuse_empty() end
end
for i = 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then return 0 end
end
local first = #KEYS + 1
for i = 1, #KEYS do
  local size = tonumber(ARGV[i])
  write('HSET', KEYS[i], ARGV, first, first + size - 1)
  first = first + size
end
return 1
