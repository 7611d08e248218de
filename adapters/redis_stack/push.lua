redis.call('JSON.ARRAPPEND', KEYS[1], ARGV[1], ARGV[2])
return 1
