-- Keys in Odin's own buffers, in buffers with changes to review, and for a question that waits. Those of the user's own
-- go first.

local M = {}

local SELECTABLE = { accept = true, reject = true, reopen = true }
local ANSWERING = { "n", "x", "i", "t" }
---What the keys of a review are for, in the order of the hint.
local HINTED = { "accept", "reject", "next" }

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
    require("odin.chat.window").close(chat.root)
  end, "close the chat")
  map(bufnr, "n", "p", function()
    require("odin.session.sessions").show_earlier(chat.root)
  end, "show earlier messages")
  map(bufnr, "n", "i", function()
    require("odin.chat").open(chat.root, { enter = true })
  end, "write a message")
end

---@param chat odin.Chat
---@param bufnr integer
function M.prompt(chat, bufnr)
  local function submit()
    require("odin.chat.prompt").submit(chat)
  end
  map(bufnr, "n", "<CR>", submit, "send")
  if require("odin.config").get().send_in_insert then
    map(bufnr, "i", "<CR>", function()
      if vim.fn.pumvisible() == 0 or vim.fn.complete_info({ "selected" }).selected < 0 then
        submit()
      else
        vim.api.nvim_feedkeys(vim.keycode("<C-y>"), "n", false)
      end
    end, "send, or take what is completed")
  end
  map(bufnr, { "n", "i" }, "<C-s>", submit, "send")
  map(bufnr, { "n", "i" }, "<C-c>", function()
    require("odin").cancel()
  end, "cancel the turn")
  map(bufnr, "n", "<Tab>", function()
    require("odin.chat.prompt").next_mode(chat)
  end, "next mode")
  map(bufnr, "n", "q", function()
    require("odin.chat.window").close(chat.root)
  end, "close the chat")
end

---Have keys in a buffer while it has changes to review.
---@param bufnr integer
---@param has_changes boolean
function M.review(bufnr, has_changes)
  local ours = vim.b[bufnr].odin_keys or {}
  if has_changes == (next(ours) ~= nil) then
    return
  end
  for _, it in ipairs(ours) do
    pcall(vim.keymap.del, it[1], it[2], { buffer = bufnr }) -- unless the user has done so
  end
  ours = {}
  for name, key in pairs(has_changes and require("odin.config").get().review_keys or {}) do
    for _, mode in ipairs(SELECTABLE[name] and { "n", "x" } or { "n" }) do
      local is_free = vim.api.nvim_buf_call(bufnr, function()
        return vim.fn.maparg(key, mode) == ""
      end)
      if is_free then
        local plug = ("<Plug>(odin-%s)"):format(name)
        vim.keymap.set(mode, key, plug, { buffer = bufnr, remap = true, desc = "Odin: " .. name })
        table.insert(ours, { mode, key })
      end
    end
  end
  vim.b[bufnr].odin_keys = ours
end

---Which key does what in a review; empty if there are none.
---@return string
function M.hint()
  local keys = require("odin.config").get().review_keys or {}
  local leader = vim.g.mapleader or "\\"
  local said = {}
  for _, name in ipairs(HINTED) do
    local key = keys[name] and keys[name]:gsub("<[Ll]eader>", leader == " " and "<Space>" or leader)
    table.insert(said, key and ("%s %s"):format(key, name) or nil)
  end
  return table.concat(said, " · ")
end

---@param number integer
---@return string? key That gives this answer to a question.
function M.answer(number)
  local pattern = require("odin.config").get().question_keys
  return pattern and number <= 9 and pattern:format(number) or nil
end

---Have keys that answer a question, in every mode, until it is answered.
---@param count integer How many answers there are.
---@param choose fun(number: integer)
---@return fun() remove
function M.question(count, choose)
  local undo = {}
  for number = 1, count do
    local key = M.answer(number)
    for _, mode in ipairs(key and ANSWERING or {}) do
      local before = vim.fn.maparg(key, mode, false, true)
      vim.keymap.set(mode, key, function()
        choose(number)
      end, { desc = "Odin: answer " .. number })
      table.insert(undo, function()
        pcall(vim.keymap.del, mode, key)
        if next(before) then
          vim.fn.mapset(mode, false, before)
        end
      end)
    end
  end
  return function()
    vim.iter(undo):each(function(restore)
      restore()
    end)
  end
end

return M
