-- ARGV: a path. Answers whether there is a record.
redis.call('JSON.DEL', KEYS[1], ARGV[1])
return redis.call('EXISTS', KEYS[1])
