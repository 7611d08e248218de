redis.call('PERSIST', KEYS[1])
return redis.call('EXISTS', KEYS[1])
