-- Keys in Odin's own buffers. There are none elsewhere; `<Plug>` maps are for those.

local M = {}

---@param bufnr integer
---@param mode string|string[]
---@param key string
---@param run fun()
---@param desc string
local function map(bufnr, mode, key, run, desc)
  vim.keymap.set(mode, key, run, { buffer = bufnr, desc = "Odin: " .. desc, nowait = true })
end

---@param chat odin.Chat
function M.chat(chat)
  local bufnr = chat.transcript.bufnr
  local function cancel()
    require("odin").cancel()
  end
  map(bufnr, "n", "<C-c>", cancel, "cancel the turn")
  map(bufnr, "n", "q", function()
    require("odin.chat").close(chat.root)
  end, "close the chat")
  map(bufnr, "n", "p", function()
    require("odin.sessions").show_earlier(chat.root)
  end, "show earlier messages")
  map(bufnr, "n", "i", function()
    require("odin.chat").open(chat.root, { enter = true })
    vim.cmd.startinsert()
  end, "write a message")
end

---@param chat odin.Chat
---@param bufnr integer
function M.prompt(chat, bufnr)
  local function submit()
    require("odin.prompt").submit(chat)
  end
  map(bufnr, "n", "<CR>", submit, "send")
  map(bufnr, { "n", "i" }, "<C-s>", submit, "send")
  map(bufnr, { "n", "i" }, "<C-c>", function()
    require("odin").cancel()
  end, "cancel the turn")
  map(bufnr, "n", "<Tab>", function()
    require("odin.prompt").next_mode(chat)
  end, "next mode")
  map(bufnr, "n", "q", function()
    require("odin.chat").close(chat.root)
  end, "close the chat")
end

return M
