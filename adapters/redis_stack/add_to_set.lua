redis.call('JSON.SET', KEYS[1], '$["r"]["c"]', ARGV[2])
local same = redis.call('JSON.GET', KEYS[1], ARGV[1] .. '[?(@==$["r"]["c"])]')
redis.call('JSON.DEL', KEYS[1], '$["r"]["c"]')
if same == '[]' then redis.call('JSON.ARRAPPEND', KEYS[1], ARGV[1], ARGV[2]) end
return 1
