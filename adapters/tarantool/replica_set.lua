-- What an operator asks of one instance, and tells it. Sent in one chunk with the call of one of these functions.

local operator = {}

-- Where it gets changes from: {peer, status, message} of each. Whether it takes writes, and when it was told to: an instance that was
-- started again never does.
function operator.state()
  local sources = {}
  for _, other in pairs(box.info.replication) do
    local from = other.upstream
    if from ~= nil then sources[#sources + 1] = {from.peer, from.status, from.message or ''} end
  end
  return not box.info.ro, rawget(_G, 'storeproof_promoted') or 0, box.info.vclock, sources
end

-- In a fiber: it waits until it is connected, which may take longer than the client waits.
function operator.follow(sources)
  require('fiber').create(function() box.cfg{replication = sources} end)
end

function operator.promote(now)
  rawset(_G, 'storeproof_promoted', now)
  box.cfg{read_only = false}
end

-- Confirms the transactions that wait for a quorum, if they have it now, and rolls back the others.
function operator.clear_queue()
  box.ctl.clear_synchro_queue()
end

function operator.demote()
  box.cfg{read_only = true}
end

return operator[...](select(2, ...))
