-- What the model reads of a conversation: add to it, speak into it, take the last of it away, compact and clear it.

local request = require("odin.client.request")
local words = require("odin.words")

local M = {}

---The session that the chat shows; without one, the server takes the current one.
---@param root string
---@return { sessionId?: string }
local function shown(root)
  return { sessionId = require("odin.chat").of_root(root).session }
end

---Whether somebody cancels a turn that compacts, or only its summary: the result does not tell. Asking ends it.
---@param turn string
---@return fun(): boolean is_cancelled
local function watch_compaction(turn)
  local is_cancelled = false
  local watch = vim.api.nvim_create_autocmd("User", {
    pattern = { "OdinCompacted", "OdinTurnFinished" },
    callback = function(event)
      local happened = event.data.event
      local is_stopped = happened.status == "cancelled" or (happened.outcome or {}).reason == "interrupted"
      is_cancelled = is_cancelled or (event.data.turnId == turn and is_stopped)
    end,
  })
  return function()
    vim.api.nvim_del_autocmd(watch)
    return is_cancelled
  end
end

---@param given string What followed the command.
---@param prompt string
---@param use fun(text: string)
local function with_text(given, prompt, use)
  if vim.trim(given) ~= "" then
    use(vim.trim(given))
    return
  end
  require("odin.screen").ask(prompt, function(text)
    if text then
      use(vim.trim(text))
    end
  end)
end

---@param root string
---@param given string
function M.note(root, given)
  with_text(given, "Note for the model:", function(text)
    if text == "" then
      return
    end
    request.execute(root, "note", vim.tbl_extend("force", shown(root), { text = text }), function()
      words.say("the model reads the note with your next message")
    end)
  end)
end

---@param root string
---@param given string
function M.steer(root, given)
  with_text(given, "Message for the running turn: ", function(text)
    if text == "" then
      return
    end
    request.execute(root, "steer", { text = text }, function(result)
      if not result.taken then
        words.say("no turn is running; :OdinAsk starts one", vim.log.levels.WARN)
      end
    end)
  end)
end

---@param root string
function M.remove_last(root)
  request.execute(root, "removeLast", shown(root), function(result)
    local told = "removed the last message; :OdinContinue asks again"
    words.say(result.removed and told or "no message to remove")
  end)
end

---@param root string
---@param given string
function M.compact(root, given)
  with_text(given, "What should the summary keep? (optional)", function(focus)
    local turn = require("odin.chat").of_root(root):mint(vim.trim("/compact " .. focus))
    local argument = vim.tbl_extend("force", shown(root), { focus = focus, turnId = turn })
    local is_cancelled = watch_compaction(turn)
    request.execute(root, "compact", argument, function(result)
      local told = ("compacted the session from %d to %d tokens"):format(result.before, result.after)
      if is_cancelled() then
        told = "canceled the compaction; the session is unchanged"
      elseif result.after >= result.before then
        told = "the session cannot be made shorter"
      end
      words.say(told)
    end, is_cancelled)
  end)
end

---The turn goes on with all that was said.
---@param root string
function M.cancel_compaction(root)
  request.execute(root, "cancel", { only = "compaction" }, function(result)
    words.say(result.cancelled and "canceled the compaction" or "nothing is being compacted")
  end)
end

---@param root string
---@param is_sure boolean Do not ask.
function M.clear(root, is_sure)
  local function clear()
    request.execute(root, "clear", shown(root), function()
      words.say("cleared the session")
    end)
  end
  if is_sure then
    clear()
    return
  end
  local prompt = "Delete the messages and todos of this session? You cannot undo this."
  require("odin.pick").from({ "Clear", "Cancel" }, { prompt = prompt, kind = "confirm" }, function(choice)
    if choice == "Clear" then
      clear()
    end
  end)
end

return M
