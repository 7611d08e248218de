-- ARGV: for each key the number of its items, then all fields and values in the order of the keys
return put_all(replace)
