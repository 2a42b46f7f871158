-- What the user has set in `vim.g.odin`, over the defaults.

local M = {}

---@class odin.Config
---@field cmd string[] Command that starts the server.
---@field enabled boolean Whether the server starts with the first file; `false`: with the first command.
---@field root_markers string[] A file's root is the folder above it that has one of these, else the current folder.
---@field settings table Odin's settings, as in `odinconfig.json`.
---@field trusted? boolean Whether you trust workspaces. Without it, Odin asks when it matters.
---@field chat_position "right"|"left"|"bottom"|"float"|"tab" Where the chat opens.
---@field chat_width integer Columns of the chat, at most: the code keeps 40 columns, or half of the screen.
---@field chat_height integer Lines of the chat below the code.
---@field prompt_height integer Lines of the prompt below it.
---@field review_keys table<string, string>|false Keys in buffers while they have changes to review; `false`: none.
---@field question_keys string|false Keys that answer a question, in every mode; `%d` is the number of the answer.
---@field send_in_insert boolean Whether `<CR>` also sends in insert mode; `<C-j>` is then a line break.
---@field autocomplete? boolean Whether the prompt completes `/` and `@` as you type. Without it: unless a plugin does.
M.defaults = {
  cmd = { "odin-lsp" },
  enabled = true,
  root_markers = { "odinconfig.json", "ODIN.md", ".git" },
  settings = {},
  trusted = nil,
  chat_position = "right",
  chat_width = 80,
  chat_height = 15,
  prompt_height = 5,
  send_in_insert = false,
  review_keys = {
    next = "]o",
    previous = "[o",
    accept = "<Leader>oy",
    reject = "<Leader>on",
    reopen = "<Leader>ou",
    ["review-edit"] = "<Leader>oe",
  },
  question_keys = [[<C-\>%d]],
}

---@return odin.Config
function M.get()
  return vim.tbl_extend("force", M.defaults, vim.g.odin or {})
end

---Whether nobody else offers completions in the prompt.
---@return boolean
function M.completes_itself()
  local wanted = M.get().autocomplete
  if wanted ~= nil then
    return wanted
  end
  return not (package.loaded["cmp"] or package.loaded["blink.cmp"])
end

return M
