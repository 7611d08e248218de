-- What an operator asks of one instance, and tells it. Sent in one chunk with the call of one of these functions.

local operator = {}

-- Beside its data; the configuration of an instance that has it says that it takes writes, as an operator's would.
local PROMOTED = 'promoted'

-- Whether it takes writes, when it was told to, its changes, and where it gets others from: {peer, status, message} of each.
function operator.state()
  local sources = {}
  for _, other in pairs(box.info.replication) do
    local from = other.upstream
    if from ~= nil then sources[#sources + 1] = {from.peer, from.status, from.message or ''} end
  end
  local file = io.open(PROMOTED)
  local promoted = file ~= nil and file:read('*n') or 0
  if file ~= nil then file:close() end
  return not box.info.ro, promoted, box.info.vclock, sources
end

-- In a fiber: it waits until it is connected, which may take longer than the client waits.
function operator.follow(sources)
  require('fiber').create(function() box.cfg{replication = sources} end)
end

function operator.promote(now)
  local file = io.open(PROMOTED, 'w')
  file:write(('%.6f'):format(now))
  file:close()
  box.cfg{read_only = false}
end

-- Confirms the transactions that wait for a quorum, if they have it now, and rolls back the others.
function operator.clear_queue()
  box.ctl.clear_synchro_queue()
end

function operator.demote()
  os.remove(PROMOTED)
  box.cfg{read_only = true}
end

return operator[...](select(2, ...))
