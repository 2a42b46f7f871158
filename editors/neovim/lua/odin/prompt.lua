-- Where the user writes the next message: a small buffer below the chat.

local M = {}

local MODES = { "ask", "plan", "edit" }
---@type table<string, integer> By root.
local buffers = {}

---Show the prompt below the chat's window.
---@param chat odin.Chat
---@param above integer
---@return integer window
function M.open(chat, above)
  local bufnr = buffers[chat.root]
  if not bufnr or not vim.api.nvim_buf_is_loaded(bufnr) then
    bufnr = M.create(chat)
  end
  for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
    if vim.api.nvim_win_get_tabpage(window) == vim.api.nvim_get_current_tabpage() then
      return window
    end
  end
  local window = require("odin.chat").split(bufnr, "below", require("odin.config").get().prompt_height, above)
  vim.wo[window].winbar = "%{%v:lua.require'odin.prompt'.winbar()%}"
  vim.wo[window].wrap = true
  return window
end

---@param chat odin.Chat
---@return integer bufnr
function M.create(chat)
  local bufnr = require("odin.chat").buffer("prompt", chat.root)
  buffers[chat.root] = bufnr
  vim.b[bufnr].odin_mode = "ask"
  vim.bo[bufnr].omnifunc = "v:lua.require'odin.context'.complete"
  vim.bo[bufnr].completefunc = "v:lua.require'odin.context'.complete"
  require("odin.keys").prompt(chat, bufnr)
  return bufnr
end

---Send what is written, in the mode that is chosen.
---@param chat odin.Chat
function M.submit(chat)
  local bufnr = buffers[chat.root]
  local text = vim.trim(table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n"))
  if text == "" then
    return
  end
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, {})
  chat:send(vim.b[bufnr].odin_mode, text, require("odin.context").mentioned(text, chat.root))
end

---Put words that were sent and are not taken before what is written.
---@param chat odin.Chat
---@param text string
function M.give_back(chat, text)
  require("odin.chat").open(chat.root, { enter = false })
  local bufnr = buffers[chat.root]
  local lines = vim.split(text, "\n")
  if vim.trim(table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false))) == "" then
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  else
    vim.api.nvim_buf_set_lines(bufnr, 0, 0, false, vim.list_extend(lines, { "" }))
  end
end

---Choose the next mode.
---@param chat odin.Chat
function M.next_mode(chat)
  local bufnr = buffers[chat.root]
  for index, mode in ipairs(MODES) do
    if mode == vim.b[bufnr].odin_mode then
      vim.b[bufnr].odin_mode = MODES[index % #MODES + 1]
      break
    end
  end
  vim.cmd.redrawstatus({ bang = true })
end

---@return string
function M.winbar()
  local chat = require("odin.chat").of_root(vim.b.odin_root)
  local queued = #chat.queued > 0 and (" · %d queued"):format(#chat.queued) or ""
  return ("%s%s · <CR> send · <Tab> mode · <C-c> cancel"):format(vim.b.odin_mode or "ask", queued)
end

return M
