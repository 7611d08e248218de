-- ARGV: what to store, in the order of the keys
local words = {}
for i = 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then return 0 end
  for _, word in ipairs({KEYS[i], '$', ARGV[i]}) do words[#words + 1] = word end
end
redis.call('JSON.MSET', unpack(words))
return 1
