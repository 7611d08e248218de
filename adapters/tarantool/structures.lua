-- Lists, sets and rankings: a tuple for each item.

function M.prepare_items(name, engine, index, sync, format, order)
  local space = box.schema.space.create(name, {engine = engine, is_sync = sync, format = format, if_not_exists = true})
  space:create_index('primary', {type = index, parts = {1, 2}, if_not_exists = true})
  if index == 'hash' then space:create_index('items', {type = 'TREE', parts = {1, 2}, if_not_exists = true}) end
  if order ~= nil then space:create_index('order', {type = 'TREE', parts = order, if_not_exists = true}) end
end

-- The index that has the items of a record together.
local function tree(space)
  return space.index.items or space.index[0]
end

function M.items(name, key)
  return tree(box.space[name]):select({key})
end

function M.has_items(name, key)
  return #tree(box.space[name]):select({key}, {limit = 1}) > 0
end

function M.item_total(name, key)
  return tree(box.space[name]):count({key})
end

-- How many there were.
local function delete_all(space, key)
  local old = tree(space):select({key})
  for _, tuple in ipairs(old) do space:delete({key, tuple[2]}) end
  return #old
end

function M.delete_items(name, key)
  return box.atomic(delete_all, box.space[name], key) > 0
end

function M.put_items(name, key, blob)
  local space = box.space[name]
  box.atomic(function()
    delete_all(space, key)
    for _, tuple in tuples(blob) do space:replace(tuple) end
  end)
end

function M.has_item(name, key, item)
  return box.space[name]:get({key, item}) ~= nil
end

-- Vinyl deletes without looking whether there is something.
function M.remove_item(name, key, item)
  local space = box.space[name]
  return box.atomic(function()
    local there = space:get({key, item}) ~= nil
    if there then space:delete({key, item}) end
    return there
  end)
end

function M.add_member(name, key, member)
  local space = box.space[name]
  return box.atomic(function()
    local new = space:get({key, member}) == nil
    if new then space:insert({key, member}) end
    return new
  end)
end

-- The places of the first and the last item, or nil.
local function ends(space, key)
  local first = tree(space):select({key}, {limit = 1})[1]
  if first ~= nil then return first[2], tree(space):select({key}, {limit = 1, iterator = 'REQ'})[1][2] end
end

function M.list_length(name, key)
  local first, last = ends(box.space[name], key)
  return first and last - first + 1 or 0
end

function M.push(name, key, item, back)
  local space = box.space[name]
  return box.atomic(function()
    local first, last = ends(space, key)
    local place = first and (back and last + 1 or first - 1) or 0
    for _, tuple in tuples('\x91\x93' .. msgpack.encode(key) .. msgpack.encode(place) .. binary(item)) do space:insert(tuple) end
    return first and last - first + 2 or 1
  end)
end

function M.pop(name, key, back)
  local space = box.space[name]
  return box.atomic(function()
    local found = tree(space):select({key}, {limit = 1, iterator = back and 'REQ' or 'EQ'})[1]
    if found ~= nil then space:delete({key, found[2]}) end
    return found
  end)
end

function M.list_range(name, key, start, stop)
  local space, found = box.space[name], {}
  local first = ends(space, key)
  if first == nil then return found end
  for _, tuple in tree(space):pairs({key, first + start}, {iterator = 'GE'}) do
    if tuple[1] ~= key or tuple[2] >= first + stop then break end
    found[#found + 1] = tuple
  end
  return found
end

function M.set_score(name, key, member, score)
  local space = box.space[name]
  return box.atomic(function()
    local new = space:get({key, member}) == nil
    space:replace({key, member, score})
    return new
  end)
end

-- Large whole numbers are cdata, to which Lua would add as to integers.
function M.add_score(name, key, member, by)
  local space = box.space[name]
  return box.atomic(function()
    local old = space:get({key, member})
    local sum = (old == nil and 0 or tonumber(old[3])) + tonumber(by)
    if math.abs(sum) == math.huge then error('the sum is beyond all numbers') end
    space:replace({key, member, sum})
    return sum
  end)
end

function M.score_of(name, key, member)
  local found = box.space[name]:get({key, member})
  if found ~= nil then return found[3] end
end

-- One by one from the first: a tree of Tarantool's does not know how many tuples are below its nodes.
function M.rank_of(name, key, member)
  local space, rank = box.space[name], 0
  if space:get({key, member}) == nil then return end
  for _, tuple in space.index.order:pairs({key}, {iterator = 'REQ'}) do
    if tuple[2] == member then return rank end
    rank = rank + 1
  end
end

function M.top(name, key, count)
  return box.space[name].index.order:select({key}, {iterator = 'REQ', limit = count})
end
