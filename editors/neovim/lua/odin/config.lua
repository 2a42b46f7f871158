-- What the user has set in `vim.g.odin`, over the defaults.

local M = {}

---@class odin.Config
---@field cmd string[] How the server is started.
---@field enabled boolean Whether the server starts with the first file; `false`: with the first command.
---@field root_markers string[] A file's root is the folder above it that has one of these, else the current directory.
---@field settings table Odin's settings, as in `odinconfig.json`.
---@field trusted? boolean Whether workspaces are trusted; left out, Odin asks when it matters.
---@field chat_width integer Columns of the chat.
---@field prompt_height integer Lines of the prompt below it.
M.defaults = {
  cmd = { "odin-lsp" },
  enabled = true,
  root_markers = { "odinconfig.json", "ODIN.md", ".git" },
  settings = {},
  trusted = nil,
  chat_width = 80,
  prompt_height = 5,
}

---@return odin.Config
function M.get()
  return vim.tbl_extend("force", M.defaults, vim.g.odin or {})
end

return M
