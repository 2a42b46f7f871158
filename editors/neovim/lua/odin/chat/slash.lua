-- Messages that begin with a slash: what can be typed, and what Neovim has a command of its own for.

local M = {}

---What changes the session itself, whatever follows the name: done here, so that the chat shows it.
local OF_SESSIONS =
  { clear = "OdinClear", continue = "OdinContinue", new = "OdinSessions new", resume = "OdinSessions" }
---What is chosen from a list or asked about, if nothing follows the name.
local LISTS = {
  context = "OdinContext",
  export = "OdinSessions export",
  extensions = "OdinExtensions",
  model = "OdinModel",
  permissions = "OdinPermissions",
  role = "OdinRole",
  trust = "OdinTrust",
}

---Do what the text asks for, if Neovim has a command for it; all else is the server's.
---@param text string
---@return boolean done
function M.take(text)
  local name, more = (vim.trim(text) .. " "):match("^/(%l+)%s+(.*)$")
  local command = OF_SESSIONS[name or ""] or more == "" and LISTS[name] or nil
  if command then
    vim.cmd(command)
  end
  return command ~= nil
end

---Commands that begin like this, for the command line.
---@param root string
---@param base string With the slash.
---@return string[]
function M.complete(root, base)
  local found = require("odin.client.request").glance(root, "slashCommands")
  local names = vim.tbl_map(function(it)
    return "/" .. it.name
  end, found and found.commands or {})
  return vim.tbl_filter(function(it)
    return vim.startswith(it, base)
  end, names)
end

return M
