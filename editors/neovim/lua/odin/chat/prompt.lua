-- Where the user writes the next message: a small buffer below the chat.

local compat = require("odin.client.compat")
local screen = require("odin.screen")
local words = require("odin.words")

local M = {}

local MODES = { "ask", "plan", "edit" }
---@type table<string, integer> By root.
local buffers = {}
---@type table<string, odin.ContextItem[]> By root: what came back with messages, to go with the next one.
local returned = {}

---@param chat odin.Chat
---@return integer bufnr
function M.buffer(chat)
  local bufnr = buffers[chat.root]
  if bufnr and vim.api.nvim_buf_is_loaded(bufnr) then
    return bufnr
  end
  return M.create(chat)
end

---@param chat odin.Chat
---@return integer bufnr
function M.create(chat)
  local bufnr = require("odin.chat.window").buffer("prompt", chat.root)
  buffers[chat.root] = bufnr
  vim.b[bufnr].odin_mode = "ask"
  vim.bo[bufnr].omnifunc = "v:lua.vim.lsp.omnifunc"
  require("odin.keys").prompt(chat, bufnr)
  M.attach(chat.root)
  vim.api.nvim_create_autocmd({ "InsertEnter", "InsertLeave" }, { buffer = bufnr, command = "redrawstatus" })
  vim.api.nvim_create_autocmd({ "TextChanged", "TextChangedI" }, {
    buffer = bufnr,
    callback = function()
      if M.text(bufnr) == "" then
        returned[chat.root] = nil
      end
    end,
  })
  return bufnr
end

---Have the server complete what is written, by whatever completes by language servers in Neovim.
---@param root string
function M.attach(root)
  local bufnr, client = buffers[root], require("odin.client.life").clients(root)[1]
  if bufnr and client and vim.api.nvim_buf_is_loaded(bufnr) then
    vim.lsp.buf_attach_client(bufnr, client.id)
    if require("odin.config").completes_itself() then
      compat.complete(bufnr, client.id)
    end
  end
end

---Send what is written, in the mode that is chosen.
---@param chat odin.Chat
function M.submit(chat)
  local bufnr = buffers[chat.root]
  local text, along = M.text(bufnr), returned[chat.root] or {}
  if text == "" then
    return
  end
  returned[chat.root] = nil
  screen.put_exactly(bufnr, 0, -1, {})
  if require("odin.chat.slash").take(text) then
    return
  end
  local mentioned = require("odin.chat.context").mentioned(text)
  chat:send(vim.b[bufnr].odin_mode, text, vim.list_extend(vim.list_slice(along), mentioned))
end

---@private
---@param bufnr integer
---@return string
function M.text(bufnr)
  return vim.trim(table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n"))
end

---Put words that were sent and are not taken before what is written; what went with them goes with it, unless all of
---it is deleted.
---@param chat odin.Chat
---@param text string
---@param context odin.ContextItem[]
function M.give_back(chat, text, context)
  require("odin.chat").open(chat.root, { enter = false })
  local bufnr = buffers[chat.root]
  local lines = vim.split(text, "\n")
  returned[chat.root] = vim.list_extend(returned[chat.root] or {}, context)
  if M.text(bufnr) == "" then
    screen.put_exactly(bufnr, 0, -1, lines)
  else
    screen.put_exactly(bufnr, 0, 0, vim.list_extend(lines, { "" }))
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

---Which keys do what, in the mode that the user is in.
---@return string
function M.winbar()
  local chat = require("odin.chat").current() -- none is made while the screen is drawn
  local queued = chat and #chat.queued or 0
  local along = chat and #(returned[chat.root] or {}) or 0
  local parts = { vim.b.odin_mode or "ask", queued > 0 and ("%d queued"):format(queued) or "" }
  table.insert(parts, along > 0 and ("%d attached"):format(along) or "")
  local actual = tonumber(vim.g.actual_curwin) or vim.api.nvim_get_current_win()
  local is_typing = actual == vim.api.nvim_get_current_win() and vim.api.nvim_get_mode().mode:find("^i")
  if not is_typing then
    vim.list_extend(parts, { "<CR> send", "<Tab> mode", "<C-c> cancel", "q close" })
  elseif require("odin.config").get().send_in_insert then
    vim.list_extend(parts, { "<CR> send", "<C-j> line break", "<C-c> cancel" })
  else
    vim.list_extend(parts, { "<C-s> send", "<C-c> cancel" })
  end
  local variants = {}
  for last = #parts, 1, -1 do
    table.insert(variants, vim.list_slice(parts, 1, last))
  end
  return words.fitted(variants, vim.api.nvim_win_get_width(0))
end

return M
