-- ARGV: field, value, ...
if #ARGV == 0 then return refuse_empty() end
replace('HSET', KEYS[1], ARGV, 1, #ARGV)
return 1
