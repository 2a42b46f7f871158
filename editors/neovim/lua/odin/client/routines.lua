-- Coroutines that wait for a person or for another server.

local M = {}

---Go on with one. What goes wrong in it is told, as it would be anywhere else.
---@param routine thread
---@param ... any What it waits for.
function M.resume(routine, ...)
  local ok, problem = coroutine.resume(routine, ...)
  if not ok then
    local where = debug.traceback(routine, tostring(problem))
    vim.schedule(function()
      error(where, 0)
    end)
  end
end

return M
