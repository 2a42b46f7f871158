-- What other plugins and the user's own settings may call.

local life = require("odin.client.life")
local request = require("odin.client.request")
local roots = require("odin.client.roots")
local words = require("odin.words")

local M = {}

---@param root string
---@param result { cancelled: boolean, returned?: odin.QueuedMessage[] }
---@param opts { queue?: true|"next"|"return", drop?: boolean }
local function tell_cancelled(root, result, opts)
  local review = require("odin.review")
  local chat = require("odin.chat").of_root(root)
  local pending = review.pending(root)
  if result.returned and #result.returned > 0 then
    chat:give_back(result.returned)
  end
  local goes_on = result.cancelled and opts.queue == "next"
  local has_told = not goes_on and chat:tell_of_queue()
  if opts.drop and #pending > 0 then
    review.reject(pending) -- of turns that have ended before
  elseif not review.tell_of_waiting(root, "still wait") and not has_told and not result.cancelled then
    words.say("no turn is running")
  end
end

---The same as `vim.g.odin`, by a call. You need not call it.
---@param settings? odin.Config
function M.setup(settings)
  vim.g.odin = vim.tbl_extend("force", vim.g.odin or {}, settings or {})
  life.reconfigure()
end

---Send a message.
---@param mode "ask"|"plan"|"edit"
---@param text string
---@param context? odin.ContextItem[]
function M.send(mode, text, context)
  if require("odin.chat.slash").take(text) then
    return
  end
  local root = roots.of(0)
  local chat = require("odin.chat").of_root(root)
  local mentioned = require("odin.chat.context").mentioned(text)
  require("odin.chat").open(root, { enter = false })
  chat:send(mode, text, vim.list_extend(context or {}, mentioned))
end

---Cancel the running turn. Pending changes and queued messages stay.
---@param opts? { queue?: true|"next"|"return", drop?: boolean } As `:OdinCancel`; `true` deletes queued messages.
function M.cancel(opts)
  opts = opts or {}
  local root = roots.of(0)
  if not life.clients(root)[1] then
    words.say("no turn is running")
    return
  end
  local function cancel()
    local queue = opts.queue ~= true and opts.queue or nil
    request.execute(root, "cancel", { drop = opts.drop or nil, queue = queue }, function(result)
      tell_cancelled(root, result, opts)
    end)
  end
  if opts.queue == true then
    request.execute(root, "queue", { action = "clear" }, cancel)
  else
    cancel()
  end
end

---For statuslines: what Odin is doing, and what waits for you. Empty when Odin is idle.
---@return string
function M.status()
  return require("odin.session.status").line(roots.of(0))
end

return M
