-- What the protocol has no request for, done inside the store, in a transaction. The functions are in one global table, which the
-- files that follow in the chunk (`link.py` has their order) know as `M`; they see the local functions here too.
--
-- Lua has one number type: where a document's value passes through it (`set_paths`, `get_paths`, the items of lists), 1.0 becomes 1.
-- Records that are written whole do not: `put_many` and `compare_and_set` send them as MessagePack, which `merger` turns into
-- tuples as it is.

local ffi, buffer, merger, msgpack = require('ffi'), require('buffer'), require('merger'), require('msgpack')
local M = {}

-- The tuples in a MessagePack array, each as it is: through Lua tables 1.0 would become 1, and bytes would become text.
local function tuples(blob)
  blob = tostring(blob)
  local buf = buffer.ibuf(#blob)
  ffi.copy(buf:alloc(#blob), blob, #blob)
  return merger.new_source_frombuffer(buf):pairs()
end

-- Maps whatever the order of their fields; an empty map is no empty array. box.NULL == nil, hence the types.
local function same(a, b)
  if type(a) ~= 'table' or type(b) ~= 'table' then return type(a) ~= 'nil' and type(b) ~= 'nil' and a == b end
  local x, y = getmetatable(a), getmetatable(b)
  if (x and x.__serialize) ~= (y and y.__serialize) then return false end
  for k, v in pairs(a) do if not same(v, b[k]) then return false end end
  for k in pairs(b) do if type(a[k]) == 'nil' then return false end end
  return true
end

function M.prepare(name, engine, index, sync, format, indexes)
  local space = box.schema.space.create(name, {engine = engine, is_sync = sync, format = format, if_not_exists = true})
  space:create_index('primary', {type = index, parts = {{1, format[1][2]}}, if_not_exists = true})
  for i, part in ipairs(indexes) do
    part.is_nullable = true
    space:create_index('secondary' .. i, {type = 'TREE', unique = false, parts = {part}, if_not_exists = true})
  end
end

function M.number(name)
  if box.space[name] == nil then error('there is no space ' .. name) end
  return box.space[name].id
end

function M.describe(name)
  local space, indexes = box.space[name], 0
  for id in pairs(space.index) do
    if type(id) == 'number' and id > 0 then indexes = indexes + 1 end
  end
  local commits = space.is_sync and 'synchronous' or 'asynchronous'
  return {engine = space.engine, index = space.index[0].type:lower(), commits = commits, indexes = tostring(indexes)}
end

function M.exists(name, key)
  return box.space[name]:get(key) ~= nil
end

function M.count(name)
  return box.space[name]:count()
end

-- Vinyl deletes without looking whether there is something.
function M.delete(name, key)
  local space = box.space[name]
  if space.engine ~= 'vinyl' then return space:delete(key) ~= nil end
  return box.atomic(function()
    local there = space:get(key) ~= nil
    if there then space:delete(key) end
    return there
  end)
end

function M.get_many(name, keys)
  local space, found = box.space[name], {}
  for i, key in ipairs(keys) do found[i] = space:get(key) or box.NULL end
  return found
end

function M.put_many(name, blob)
  box.atomic(function()
    for _, tuple in tuples(blob) do box.space[name]:replace(tuple) end
  end)
end

function M.insert_many(name, blob)
  box.atomic(function()
    for _, tuple in tuples(blob) do box.space[name]:insert(tuple) end
  end)
end

-- All reads before all writes. Vinyl may wait for its disk between two of them, and refuses one of two transactions that conflict.
function M.run_whole(name, keys, blob)
  local space, found = box.space[name], {}
  box.atomic(function()
    for i, key in ipairs(keys) do found[i] = space:get(key) or box.NULL end
    if blob == nil then return end
    for _, tuple in tuples(blob) do space:replace(tuple) end
  end)
  return found
end

function M.compare_and_set(name, key, expected, blob)
  local space = box.space[name]
  return box.atomic(function()
    local old = space:get(key)
    if old == nil then return false end
    for i = 1, #expected do
      local wanted, found = expected[i], old[i + 1]
      if (wanted == nil) ~= (found == nil) or (wanted ~= nil and not same(found, wanted)) then return false end
    end
    for _, tuple in tuples(blob) do space:replace(tuple) end
    return true
  end)
end

function M.get_and_set(name, key, blob)
  local space = box.space[name]
  return box.atomic(function()
    local old = space:get(key)
    for _, tuple in tuples(blob) do space:replace(tuple) end
    return old
  end)
end

-- Bytes as MessagePack, written by hand: as a Lua string they would become text.
local function binary(value)
  value = tostring(value)
  return '\xc6' .. bit.tohex(#value):gsub('..', function(byte) return string.char(tonumber(byte, 16)) end) .. value
end

function M.append(name, key, value)
  local space = box.space[name]
  box.atomic(function()
    local old = space:get(key)
    value = (old == nil and '' or tostring(old[2])) .. tostring(value)
    for _, tuple in tuples('\x91\x92' .. msgpack.encode(key) .. binary(value)) do space:replace(tuple) end
  end)
end

-- `update(...) or insert(...)` would do, but Vinyl 2.6 loops for ever in the drop of a space where an update found nothing.
local function add(space, key, by)
  return (space:get(key) == nil and space:insert({key, by}) or space:update(key, {{'+', 2, by}}))[2]
end

function M.increment(name, key, by)
  return box.atomic(add, box.space[name], key, by)
end

-- `have` is a signed or an unsigned number of 64 bits, which Lua compares rightly where neither is negative.
function M.transfer(name, source, target, amount)
  local space = box.space[name]
  return box.atomic(function()
    local old = space:get(source)
    local have = old == nil and 0 or old[2]
    if have < 0 or have < amount then return false end
    if old == nil then space:insert({source, 0}) else space:update(source, {{'-', 2, amount}}) end
    add(space, target, amount)
    return true
  end)
end

-- Of each of these columns a tuple that has nothing else, or null: as a Lua string its bytes would be sent as text.
function M.get_columns(name, key, columns)
  local tuple, found = box.space[name]:get(key), {}
  for i, column in ipairs(columns) do
    local one = tuple
    if one == nil or one[column] == nil then
      found[i] = box.NULL
    else
      if #one > column then one = one:transform(column + 1, #one - column) end
      found[i] = one:transform(1, column - 1)
    end
  end
  return found
end

function M.delete_column(name, key, column)
  local space = box.space[name]
  return box.atomic(function()
    local tuple = space:get(key)
    if tuple == nil or tuple[column] == nil then return false end
    space:update(key, {{'=', column, box.NULL}})
    return true
  end)
end

-- The value, or nil. A null inside a map reads as nil by its path, and as box.NULL in its parent.
local function value_at(tuple, path, parent, last)
  local value
  if tuple ~= nil then value = tuple[path] end
  if type(value) == 'nil' and tuple ~= nil and last ~= nil then
    local around = tuple[parent]
    if type(around) == 'table' then value = around[last] end
  end
  return value
end

-- Of each place the value in a list, which is empty where nothing is.
function M.get_paths(name, key, places)
  local tuple, found = box.space[name]:get(key), {}
  for i, place in ipairs(places) do
    found[i] = {value_at(tuple, place[1], place[2], place[3])}
  end
  return found
end

-- `update` makes all the changes or none.
function M.set_paths(name, key, values)
  local changes = {}
  for i, each in ipairs(values) do changes[i] = {'=', each[1], each[2]} end
  return box.space[name]:update(key, changes) ~= nil
end

-- The parent may be absent too; `update` refuses to remove what is not there.
function M.unset_path(name, key, path, parent, last)
  local space = box.space[name]
  return box.atomic(function()
    local tuple = space:get(key)
    if tuple == nil then return false end
    if type(value_at(tuple, path, parent, last)) ~= 'nil' then space:update(key, {{'#', path, 1}}) end
    return true
  end)
end

-- `update` refuses to add to what is not there, and to what is no number.
function M.increment_path(name, key, path, parent, last, by)
  local space = box.space[name]
  return box.atomic(function()
    local tuple = space:get(key)
    if tuple == nil then return nil end
    local absent = type(value_at(tuple, path, parent, last)) == 'nil'
    return space:update(key, {{absent and '=' or '+', path, by}})[path]
  end)
end

local function is_list(value)
  local meta = type(value) == 'table' and getmetatable(value)
  return meta and meta.__serialize ~= 'map' and meta.__serialize ~= 'mapping'
end

-- Change the list at a path in a transaction, by single updates: items that stay keep their own MessagePack.
local function change_list(name, key, path, change)
  local space = box.space[name]
  return box.atomic(function()
    local tuple = space:get(key)
    if tuple == nil then return false end
    local list = tuple[path]
    if not is_list(list) then error('there is no list at ' .. path) end
    change(list, function(operation, position, value)
      space:update(key, {{operation, path .. '[' .. position .. ']', value}})
    end)
    return true
  end)
end

local function equal(a, b)
  return type(a) == type(b) and same(a, b)
end

function M.push_item(name, key, path, value)
  return change_list(name, key, path, function(list, update) update('!', #list + 1, value) end)
end

function M.insert_item(name, key, path, position, value)
  return change_list(name, key, path, function(_, update) update('!', position, value) end)
end

function M.pull_item(name, key, path, value)
  return change_list(name, key, path, function(list, update)
    for i = #list, 1, -1 do
      if equal(list[i], value) then update('#', i, 1) end
    end
  end)
end

function M.add_to_set(name, key, path, value)
  return change_list(name, key, path, function(list, update)
    for i = 1, #list do
      if equal(list[i], value) then return end
    end
    update('!', #list + 1, value)
  end)
end

function M.item_count(name, key, path)
  local tuple = box.space[name]:get(key)
  local list = tuple ~= nil and tuple[path]
  if is_list(list) then return #list end
end

function M.scan_prefix(name, prefix, count)
  local found = {}
  for _, tuple in box.space[name].index[0]:pairs(prefix, {iterator = 'GE'}) do
    if #found == count or tuple[1]:sub(1, #prefix) ~= prefix then break end
    found[#found + 1] = tuple
  end
  return found
end

function M.walk(name, after, count)
  local found = {}
  for _, tuple in box.space[name].index[0]:pairs(after, {iterator = after == nil and 'ALL' or 'GT'}) do
    if #found == count then break end
    found[#found + 1] = tuple[1]
  end
  return found
end

rawset(_G, 'storeproof', M)
