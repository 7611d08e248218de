-- The instance as a whole.

function M.version()
  return box.info.package or 'Tarantool', box.info.version
end

function M.settings(names)
  local found = {}
  for i, name in ipairs(names) do found[i] = tostring(box.cfg[name]) end
  return found
end

function M.snapshot()
  box.snapshot()
end

return box.info.status
