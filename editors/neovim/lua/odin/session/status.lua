-- What is shown of a session in a line: above the chat, and in statuslines.

local display = require("odin.display")
local words = require("odin.words")

local M = {}

local BUILDER = "builder"

---What happens, in a few words; empty while nothing does.
---@param chat odin.Chat
---@return string
function M.activity(chat)
  local parts = {}
  if chat.turn and chat.activity ~= "idle" then
    table.insert(parts, (chat.mode:gsub("_mode", "")) .. ": " .. (chat.activity:gsub("_", " ")))
  end
  if chat.is_compacting then
    local what = chat.activity == "compacting" and "" or "compacting, "
    table.insert(parts, what .. ":OdinCancel compaction stops it")
  end
  if #chat.queued > 0 then
    table.insert(parts, #chat.queued .. (chat:has_waiting() and " waiting" or " queued"))
  end
  return table.concat(parts, " · ")
end

---The session, its model, what happens and what it has cost, as far as there is room. The usual role goes without
---saying.
---@param chat odin.Chat
---@param width? integer
---@return string
function M.bar(chat, width)
  local title = chat.title or (chat.story:is_empty() and "new session" or "")
  local name = title == "" and "Odin" or "Odin: " .. title
  local role = chat.role ~= BUILDER and chat.role or ""
  local model, activity, money = chat.model or "", M.activity(chat), words.money(chat.usage)
  return words.fitted({
    { name, model, role, activity, words.cost(chat.usage) },
    { name, model:match("[^/]*$"), role, activity, money },
    { name, role, activity, money },
    { name, activity },
  }, width)
end

---The line above the chat.
---@return string
function M.winbar()
  local chat = require("odin.chat").current()
  return chat and display.bar(M.bar(chat, vim.api.nvim_win_get_width(0))) .. "%<" or ""
end

---What Odin does in a root, and what waits for the user. Empty when there is nothing to tell.
---@param root string
---@return string
function M.line(root)
  local chat = require("odin.chat").current()
  local parts = { chat and M.activity(chat) or "" }
  local pending = require("odin.review").count(root)
  local place = require("odin.review.walk").place(root)
  table.insert(parts, pending > 0 and pending .. " to review" .. (place and (" (%s)"):format(place) or "") or "")
  table.insert(parts, require("odin.chat.question").waits() and "a question waits" or "")
  local told = table.concat(words.said(parts), " · ")
  return told == "" and "" or "Odin " .. told
end

return M
