-- Indexes on documents, and what is found by them.

local key_def = require('key_def')

function M.create_index(name, index, unique, parts)
  box.space[name]:create_index(index, {type = 'TREE', unique = unique, parts = parts})
end

-- The source of a condition, whose values are Lua literals.
local function source(tree)
  if tree[1] == 'not' then return '(not ' .. source(tree[2]) .. ')' end
  if tree[1] == 'eq' then
    local value = tree[3]
    local written = type(value) == 'string' and ('%q'):format(value)
      or type(value) == 'number' and ('%.17g'):format(value) or tostring(value)
    local path = {}
    for i, part in ipairs(tree[2]) do path[i] = type(part) == 'number' and part + 1 or ('%q'):format(part) end
    return ('equal(at(%s), %s)'):format(table.concat(path, ', '), written)
  end
  local parts = {}
  for i = 2, #tree do parts[i - 1] = source(tree[i]) end
  return #parts > 0 and '(' .. table.concat(parts, ' ' .. tree[1] .. ' ') .. ')' or tostring(tree[1] == 'and')
end

-- A functional index with many keys a tuple, of which this one gives one or none. Whole numbers beyond 2^53 are cdata, and so is null.
local BODY = [[function(tuple)
  local function at(...)
    local value = tuple[2]
    for i = 1, select('#', ...) do
      if type(value) ~= 'table' then return nil end
      value = value[select(i, ...)]
    end
    return value
  end
  local function kind(value) return type(value) == 'cdata' and 'number' or type(value) end
  local function equal(a, b) return a ~= nil and kind(a) == kind(b) and a == b end
  if not %s then return {} end
  local key = {%s}
  for i = 1, %d do
    if key[i] == nil then return {} end
  end
  return {key}
end]]

local function function_of(name, index)
  return 'storeproof_' .. name .. '_' .. index
end

-- Whether the engine has functional indexes.
function M.create_partial(name, index, unique, paths, tree)
  local space, keys, parts = box.space[name], {}, {}
  if space.engine == 'vinyl' then return false end
  if space.index[index] ~= nil then error('there is an index ' .. index) end
  for i, path in ipairs(paths) do
    local quoted = {}
    for j, part in ipairs(path) do quoted[j] = type(part) == 'number' and part + 1 or ('%q'):format(part) end
    keys[i] = 'at(' .. table.concat(quoted, ', ') .. ')'
    parts[i] = {i, 'scalar'}
  end
  local func = function_of(name, index)
  box.schema.func.drop(func, {if_exists = true})
  box.schema.func.create(func, {
    body = BODY:format(source(tree), table.concat(keys, ', '), #keys),
    is_deterministic = true, is_sandboxed = true, opts = {is_multikey = true}})
  local made, reason = pcall(space.create_index, space, index, {func = func, unique = unique, parts = parts})
  if not made then
    box.schema.func.drop(func)
    error(reason)
  end
  return true
end

function M.drop_index(name, index)
  local found = box.space[name].index[index]
  if found == nil then return false end
  found:drop()
  box.schema.func.drop(function_of(name, index), {if_exists = true})
  return true
end

local function own(space)
  local names = {}
  for id, index in pairs(space.index) do
    if type(id) == 'number' and id > 0 and not index.name:match('^secondary%d+$') then names[#names + 1] = index.name end
  end
  return names
end

function M.index_names(name)
  return own(box.space[name])
end

-- Functions outlive the space that used them.
function M.clear(name)
  local space = box.space[name]
  if space == nil then return end
  local indexes = own(space)
  space:drop()
  for _, index in ipairs(indexes) do box.schema.func.drop(function_of(name, index), {if_exists = true}) end
end

-- How an index answers what is wanted: {key = {...}, path, low, high, operators}, or nil if it does not answer all of it.
local function part_of(index, wanted)
  local by, plan, used = {}, {key = {}}, 0
  for _, each in ipairs(wanted) do
    by[each[1]] = by[each[1]] or {}
    table.insert(by[each[1]], each)
  end
  for _, part in ipairs(index.parts) do
    local asked = part.path and by[part.path]
    if not asked then break end
    used = used + #asked
    if #asked == 1 and asked[1][2] == 'eq' then
      table.insert(plan.key, asked[1][3])
    else
      plan.path = part.path
      for _, each in ipairs(asked) do
        local bound = (each[2] == 'gt' or each[2] == 'gte') and 'low' or (each[2] == 'lt' or each[2] == 'lte') and 'high' or each[2]
        if bound == 'eq' or plan[bound] then return nil end
        plan[bound] = each
      end
      if plan.prefix and #asked > 1 then return nil end
      break
    end
  end
  if used == #wanted then return plan end
end

local function kind(value)
  return type(value) == 'cdata' and 'number' or type(value)
end

local function with(key, value)
  local longer = {unpack(key)}
  longer[#longer + 1] = value
  return longer
end

-- The tuples between bounds: the smallest text is '', and below the numbers there are null and booleans.
local function between(index, plan)
  local place, order = 'doc' .. plan.path, key_def.new(index.parts)
  local low = plan.low or plan.prefix
  local first = low and low[3] or kind(plan.high[3]) == 'string' and '' or -math.huge
  local wanted, last, found = kind(first), plan.high and with(plan.key, plan.high[3]), {}
  if plan.high and kind(plan.high[3]) ~= wanted then return found end
  local start = with(plan.key, first)
  for _, tuple in index:pairs(start, {iterator = low and low[2] == 'gt' and 'GT' or 'GE'}) do
    local value = tuple[place]
    if value == nil or kind(value) ~= wanted then break end
    if #plan.key > 0 and order:compare_with_key(tuple, plan.key) ~= 0 then break end
    if plan.prefix and value:sub(1, #first) ~= first then break end
    if last then
      local way = order:compare_with_key(tuple, last)
      if way > 0 or (way == 0 and plan.high[2] == 'lt') then break end
    end
    found[#found + 1] = tuple
  end
  return found
end

-- The index that answers, and how; nil if none does.
local function chosen(space, wanted)
  for id, index in pairs(space.index) do
    local plan = type(id) == 'number' and id > 0 and part_of(index, wanted)
    if plan then return index, plan end
  end
end

-- A part of a record, under the paths where it was.
local function project(record, fields)
  local answer = setmetatable({}, {__serialize = 'map'})
  for _, path in ipairs(fields) do
    local value = record
    for _, name in ipairs(path) do
      if type(value) ~= 'table' or getmetatable(value) == nil or getmetatable(value).__serialize ~= 'map' then value = nil break end
      value = value[name]
      if type(value) == 'nil' then break end
    end
    if type(value) ~= 'nil' then
      local into = answer
      for i = 1, #path - 1 do
        if into[path[i]] == nil then into[path[i]] = setmetatable({}, {__serialize = 'map'}) end
        into = into[path[i]]
      end
      into[path[#path]] = value
    end
  end
  return answer
end

function M.find(name, wanted, skip, limit, fields)
  local index, plan = chosen(box.space[name], wanted)
  if index == nil then return end
  local tuples = plan.path and between(index, plan) or nil
  local found = {}
  if limit == nil then limit = nil end -- box.NULL is true
  if tuples == nil then
    tuples, skip = index:select(plan.key, {offset = skip, limit = limit}), 0
  end
  for i = skip + 1, math.min(#tuples, limit and skip + limit or #tuples) do
    local tuple = tuples[i]
    if fields == nil then
      found[#found + 1] = tuple
    else
      found[#found + 1] = {tuple[1], #fields > 0 and project(tuple[2], fields) or box.NULL}
    end
  end
  return found
end

function M.count_where(name, wanted)
  local index, plan = chosen(box.space[name], wanted)
  if index == nil then return end
  return plan.path and #between(index, plan) or index:count(plan.key)
end
