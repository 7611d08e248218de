-- ARGV: of each value, the path that must be there (an item's own, or that of the object around a field), its path, and itself.
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local words = {}
for i = 1, #ARGV, 3 do
  local kind = redis.call('JSON.TYPE', KEYS[1], ARGV[i])[1]
  if not kind or (ARGV[i] ~= ARGV[i + 1] and kind ~= 'object') then
    return redis.error_reply('ERR there is no object or list position to set a value at')
  end
  for _, word in ipairs({KEYS[1], ARGV[i + 1], ARGV[i + 2]}) do words[#words + 1] = word end
end
redis.call('JSON.MSET', unpack(words))
return 1
