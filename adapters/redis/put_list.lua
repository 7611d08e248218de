-- ARGV: items
if #ARGV == 0 then return refuse_empty() end
replace('RPUSH', KEYS[1], ARGV, 1, #ARGV)
return 1
