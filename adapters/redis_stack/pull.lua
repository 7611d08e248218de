-- Items that are equal are found by comparing them with one that is stored beside.
redis.call('JSON.SET', KEYS[1], '$["r"]["c"]', ARGV[2])
redis.call('JSON.DEL', KEYS[1], ARGV[1] .. '[?(@==$["r"]["c"])]')
redis.call('JSON.DEL', KEYS[1], '$["r"]["c"]')
return 1
