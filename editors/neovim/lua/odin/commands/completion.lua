-- What a message on the command line can become.

local M = {}

---A command at its beginning, and what it mentions.
---@param lead string
---@param line string
---@return string[]
function M.message(lead, line)
  local root = require("odin.client.roots").of(0)
  if lead:find("^/") and line:find("Odin%a+%s+/%S*$") then
    return require("odin.chat.slash").complete(root, lead)
  end
  return lead:find("^@") and require("odin.chat.context").mentions(lead, root) or {}
end

return M
