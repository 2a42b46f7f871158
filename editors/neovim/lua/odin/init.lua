-- What other plugins and the user's own settings may call.

local server = require("odin.server")

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
    server.say("nothing is running")
  end
end

---Settings by call instead of `vim.g.odin`. There is no need to call it.
---@param settings? odin.Config
function M.setup(settings)
  vim.g.odin = vim.tbl_extend("force", vim.g.odin or {}, settings or {})
  server.reconfigure()
end

---Say something to Odin.
---@param mode "ask"|"plan"|"edit"
---@param text string
---@param context? odin.ContextItem[]
function M.send(mode, text, context)
  local root = server.root_of(0)
  local chat = require("odin.chat").of_root(root)
  local mentioned = require("odin.context").mentioned(text, root)
  require("odin.chat").open(root, { enter = false })
  chat:send(mode, text, vim.list_extend(context or {}, mentioned))
end

---Cancel the running turn. What waits for a review goes on waiting, and so does what is queued.
---@param opts? { queue?: true|"next"|"return", drop?: boolean } As `:OdinCancel`; `true` forgets what is queued.
function M.cancel(opts)
  opts = opts or {}
  local root = server.root_of(0)
  if not server.clients(root)[1] then
    server.say("nothing is running")
    return
  end
  local function cancel()
    local queue = opts.queue ~= true and opts.queue or nil
    server.execute(root, "cancel", { drop = opts.drop or nil, queue = queue }, function(result)
      tell_cancelled(root, result, opts)
    end)
  end
  if opts.queue == true then
    server.execute(root, "queue", { action = "clear" }, cancel)
  else
    cancel()
  end
end

---For statuslines: what Odin does, and what waits for the user. Empty when there is nothing to tell.
---@return string
function M.status()
  local root = server.root_of(0)
  local chat = require("odin.chat").current()
  local parts = { chat and chat:status() or "" }
  local pending = #require("odin.review").pending(root)
  table.insert(parts, pending > 0 and pending .. " to review" or "")
  local told = table.concat(require("odin.words").said(parts), " · ")
  return told == "" and "" or "Odin " .. told
end

return M
