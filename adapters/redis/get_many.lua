local found = {}
for i = 1, #KEYS do found[i] = redis.call('HGETALL', KEYS[i]) end
return found
