-- Every command, as data: commands, what completes them, the `<Plug>` maps and the help are made from it.

local M = {}

---@class odin.Command
---@field name string
---@field args? string[] What can follow it: words, which are completed, or in braces what they stand for.
---@field complete? fun(lead: string, line: string): string[] What those in braces can be.
---@field bang? boolean
---@field range? boolean
---@field maps? table<string, string> By the name in `<Plug>(odin-…)`: the argument that it is called with.
---@field desc string
---@field run fun(args: table)

---@type odin.Command[]
M.commands = {}
for _, group in ipairs({ "talk", "session", "review", "project" }) do
  vim.list_extend(M.commands, require("odin.commands." .. group))
end

function M.define()
  for _, command in ipairs(M.commands) do
    vim.api.nvim_create_user_command(command.name, command.run, {
      desc = command.desc,
      nargs = command.args and "*" or 0,
      bang = command.bang,
      range = command.range,
      complete = command.args and M.completion(command),
    })
  end
  for _, map in ipairs(M.maps()) do
    for _, mode in ipairs(map.modes) do
      vim.api.nvim_set_keymap(mode, map.lhs, map.rhs, { desc = "Odin: " .. map.call, silent = true, noremap = true })
    end
  end
end

---How it is typed.
---@param command odin.Command
---@return string
function M.usage(command)
  local name = (command.range and ":[range]" or ":") .. command.name .. (command.bang and "[!]" or "")
  return command.args and ("%s [%s]"):format(name, table.concat(command.args, "|")) or name
end

---@param command odin.Command
---@return fun(lead: string, line: string): string[]
function M.completion(command)
  return function(lead, line)
    local found = command.complete and command.complete(lead, line) or {}
    for _, arg in ipairs(line:find("Odin%a+!?%s+%S*$") and command.args or {}) do
      local word = arg:match("^%a+")
      if word and vim.startswith(word, lead) then
        table.insert(found, word)
      end
    end
    return found
  end
end

---Those that take a range take what is selected.
---@return { lhs: string, modes: string[], rhs: string, call: string }[]
function M.maps()
  local maps = {}
  for _, command in ipairs(M.commands) do
    for name, argument in vim.spairs(command.maps or {}) do
      local call = vim.trim(command.name .. " " .. argument)
      table.insert(maps, {
        lhs = ("<Plug>(odin-%s)"):format(name),
        modes = command.range and { "n", "x" } or { "n" },
        rhs = (command.range and ":%s<CR>" or "<Cmd>%s<CR>"):format(call),
        call = ":" .. call,
      })
    end
  end
  return maps
end

return M
