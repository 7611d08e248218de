-- `luacheck adapters`. A script is put together of files (adapters/redis/scripts.py, adapters/tarantool/link.py): a file uses the
-- local functions of those before it, and does not use all of its own (211).
max_line_length = 140
ignore = {"211"}
files["adapters/redis*"] = {std = "lua51", read_globals = {"redis", "KEYS", "ARGV", "write", "replace", "refuse_empty"}}
files["adapters/tarantool"] = {std = "luajit", globals = {"M"}, read_globals = {"box", "msgpack", "tuples", "binary"}}
