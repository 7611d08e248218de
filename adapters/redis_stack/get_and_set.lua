-- ARGV: what to store. Answers the document that was there.
local old = redis.call('JSON.GET', KEYS[1], '$["r"]["d"]')
redis.call('JSON.SET', KEYS[1], '$', ARGV[1])
return old
