-- ARGV: field, value, ...
if #ARGV == 0 then return refuse_empty() end
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
write('HSET', KEYS[1], ARGV, 1, #ARGV)
return 1
