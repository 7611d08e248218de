-- ARGV: the expected document, what to store. JSONPath compares whole documents only where both are stored.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
redis.call('JSON.SET', KEYS[1], '$["r"]["c"]', ARGV[1])
local same = redis.call('JSON.GET', KEYS[1], '$[?(@["d"]==@["c"])]["k"]')
if same == '[]' then
  redis.call('JSON.DEL', KEYS[1], '$["r"]["c"]')
  return 0
end
redis.call('JSON.SET', KEYS[1], '$', ARGV[2])
return 1
