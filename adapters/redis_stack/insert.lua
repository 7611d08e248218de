-- ARGV: also a position
redis.call('JSON.ARRINSERT', KEYS[1], ARGV[1], ARGV[3], ARGV[2])
return 1
