-- What the model reads of a conversation: add to it, take the last of it away, compact and clear it.

local server = require("odin.server")

local M = {}

---The session that the chat shows; without one, the server takes the current one.
---@param root string
---@return { sessionId?: string }
local function shown(root)
  return { sessionId = require("odin.chat").of_root(root).session }
end

---@param given string What followed the command.
---@param prompt string
---@param use fun(text: string)
local function with_text(given, prompt, use)
  if vim.trim(given) ~= "" then
    use(vim.trim(given))
    return
  end
  vim.ui.input({ prompt = prompt }, function(text)
    if text then
      use(vim.trim(text))
    end
  end)
end

---@param root string
---@param given string
function M.note(root, given)
  with_text(given, "Note for the model: ", function(text)
    if text == "" then
      return
    end
    server.execute(root, "note", vim.tbl_extend("force", shown(root), { text = text }), function()
      server.say("noted; the model reads it with your next message")
    end)
  end)
end

---@param root string
function M.remove_last(root)
  server.execute(root, "removeLast", shown(root), function(result)
    local told = "the model no longer reads the last message; :OdinContinue asks for another answer"
    server.say(result.removed and told or "there is no message to remove")
  end)
end

---@param root string
---@param given string
function M.compact(root, given)
  with_text(given, "What should the summary keep above all? (may be empty) ", function(focus)
    local turn = require("odin.chat").of_root(root):mint(vim.trim("/compact " .. focus))
    local argument = vim.tbl_extend("force", shown(root), { focus = focus, turnId = turn })
    server.execute(root, "compact", argument, function(result)
      local told = ("compacted the session from %d to %d tokens"):format(result.before, result.after)
      server.say(result.after < result.before and told or "the session is as long as before")
    end)
  end)
end

---@param root string
---@param is_sure boolean Do not ask.
function M.clear(root, is_sure)
  local function clear()
    server.execute(root, "clear", shown(root), function()
      server.say("cleared the session")
    end)
  end
  if is_sure then
    clear()
    return
  end
  local prompt = "Clear the session? Odin forgets its messages and todos. You cannot undo this."
  vim.ui.select({ "Clear", "Cancel" }, { prompt = prompt }, function(choice)
    if choice == "Clear" then
      clear()
    end
  end)
end

return M
