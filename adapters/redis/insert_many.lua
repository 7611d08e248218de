-- ARGV: as of put_many. Nothing is written if one of the keys exists.
for i = 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) == 1 then return 0 end
end
return put_all(write)
