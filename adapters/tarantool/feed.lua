-- Feeds of a space's changes.

local fiber = require('fiber')

-- By space, then by the number of the feed. They outlive the connections, and this chunk, which every connection sends.
local feeds = rawget(_G, 'storeproof_feeds') or {}
rawset(_G, 'storeproof_feeds', feeds)

local function feed_of(name, number)
  local feed = feeds[name] and feeds[name][number]
  if feed == nil then error('no feed of ' .. name .. ': the instance was restarted, or the space was dropped') end
  return feed
end

-- The trigger is of the statement; what it knows is kept when the transaction is committed, which is not before it is in the log.
function M.follow(name, records)
  local feed = {changes = {}, first = 1, last = 0, more = fiber.cond()}
  feeds[name] = feeds[name] or {}
  table.insert(feeds[name], feed)
  box.space[name]:on_replace(function(old, new)
    if old == nil and new == nil then return end
    local change = new ~= nil and {'put', new[1], records and new or nil} or {'delete', old[1]}
    box.on_commit(function()
      feed.last = feed.last + 1
      feed.changes[feed.last] = change
      feed.more:broadcast()
    end)
  end)
  return #feeds[name]
end

-- What is behind `after`, which the client has and will not ask for again.
function M.changes(name, number, after, count, seconds)
  local feed = feed_of(name, number)
  for told = feed.first, after do feed.changes[told] = nil end
  feed.first = after + 1
  local deadline = fiber.clock() + seconds
  while feed.last - after < count and fiber.clock() < deadline do
    feed.more:wait(math.max(0, deadline - fiber.clock()))
  end
  local found = {}
  for next = after + 1, math.min(feed.last, after + count) do found[#found + 1] = feed.changes[next] end
  return found
end

-- The triggers go with the space.
local clear = M.clear
function M.clear(name)
  feeds[name] = nil
  clear(name)
end
