-- What scripts that change a list begin with. ARGV: the path of the list, an item.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local kind = redis.call('JSON.TYPE', KEYS[1], ARGV[1])
if kind[1] ~= 'array' then return redis.error_reply('ERR there is no list at the path') end

