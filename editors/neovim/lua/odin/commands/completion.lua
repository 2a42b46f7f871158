-- What can follow a command.

local M = {}

---@param words string[]
---@return fun(lead: string): string[]
function M.among(words)
  return function(lead)
    return vim.tbl_filter(function(word)
      return vim.startswith(word, lead)
    end, words)
  end
end

---Of a message: a command at its beginning, and what it mentions.
---@param lead string
---@param line string
---@return string[]
function M.mentions(lead, line)
  local root = require("odin.client.roots").of(0)
  if lead:find("^/") and line:find("Odin%a+%s+/%S*$") then
    return require("odin.chat.slash").complete(root, lead)
  end
  return lead:find("^[@#]") and require("odin.chat.context").mentions(lead, root) or {}
end

---The same for a plan, which can be run, too.
---@param lead string
---@param line string
---@return string[]
function M.plan(lead, line)
  local is_first = line:find("Odin%a+%s+%a*$") ~= nil
  return is_first and M.among({ "run" })(lead) or M.mentions(lead, line)
end

return M
