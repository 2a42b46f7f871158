-- Every command and every `<Plug>` map, as data: the help is made from it.

local M = {}

---@class odin.Command
---@field name string
---@field args string What follows it, for the help.
---@field desc string
---@field run fun(args: table)
---@field opts table<string, any>

---@type odin.Command[]
M.commands = {}
for _, group in ipairs({ "talk", "session", "review", "project" }) do
  vim.list_extend(M.commands, require("odin.commands." .. group))
end
M.maps = require("odin.commands.maps")

function M.define()
  for _, command in ipairs(M.commands) do
    local opts = vim.tbl_extend("force", { desc = command.desc }, command.opts)
    vim.api.nvim_create_user_command(command.name, command.run, opts)
  end
  for _, map in ipairs(M.maps) do
    vim.keymap.set(map.mode, map.lhs, map.rhs, { desc = "Odin: " .. map.desc, silent = true })
  end
  require("odin.chat.context").follow()
  require("odin.client.files").follow()
  require("odin.intelligence.peers").follow()
  require("odin.plans").follow()
end

return M
