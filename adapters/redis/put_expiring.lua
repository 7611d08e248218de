-- ARGV: seconds, field, value, ...
if #ARGV == 1 then return refuse_empty() end
replace('HSET', KEYS[1], ARGV, 2, #ARGV)
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
