-- One chat for each root: what was said, what happens now, and a prompt below it.

local Transcript = require("odin.transcript")

---@class odin.Chat
---@field root string
---@field transcript odin.Transcript
---@field session? string
---@field client_id? integer
---@field activity string What the server does; `idle` between turns.
---@field turn? string The running turn.
---@field mode? string
---@field model? string
---@field usage? odin.Usage
---@field said table<string, { text: string, mode: string }> What the user said, by turn.
---@field queued string[] Turns that wait.
local Chat = {}
Chat.__index = Chat

local M = {}
---@type table<string, odin.Chat>
local chats = {}

---@param root string
---@return odin.Chat
function M.of_root(root)
  local chat = chats[root] or setmetatable({ root = root, activity = "idle", said = {}, queued = {} }, Chat)
  chats[root] = chat
  if not chat.transcript or not vim.api.nvim_buf_is_loaded(chat.transcript.bufnr) then
    chat.transcript = Transcript.new(M.buffer("chat", root))
    require("odin.keys").chat(chat)
  end
  return chat
end

---A buffer of Odin's own, in place of one that the user has deleted.
---@param kind "chat"|"prompt"
---@param root string
---@return integer bufnr
function M.buffer(kind, root)
  local name = ("odin://%s%s"):format(kind, root)
  local old = vim.fn.bufnr("^" .. name .. "$")
  if old > 0 then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(bufnr, name)
  vim.bo[bufnr].bufhidden = "hide"
  vim.bo[bufnr].filetype = "markdown"
  vim.b[bufnr].odin_root = root
  return bufnr
end

---@param client_id integer
---@return odin.Chat?
function M.of_client(client_id)
  for _, chat in pairs(chats) do
    if chat.client_id == client_id then
      return chat
    end
  end
end

---The chat of the current buffer, if its root has one.
---@return odin.Chat?
function M.current()
  return chats[require("odin.server").root_of(0)]
end

---Send what the user says as a turn; what runs already comes first.
---@param mode "ask"|"plan"|"edit"|"init"
---@param text string
---@param context? odin.ContextItem[]
function Chat:send(mode, text, context)
  local turn = ("nvim-%d-%d"):format(vim.fn.getpid(), vim.uv.hrtime())
  self.said[turn] = { text = text, mode = mode }
  local argument = { turnId = turn }
  if mode ~= "init" then
    argument.text, argument.sessionId = text, self.session
    argument.context = context and #context > 0 and context or nil
  end
  require("odin.server").execute(self.root, mode, argument, nil, function(message)
    self.said[turn] = nil
    self.transcript:append({ "*" .. message:gsub("\n", " ") .. "*" })
  end)
end

---@param record odin.EventRecord
---@param client_id integer
function Chat:take(record, client_id)
  self.client_id = client_id
  local event = record.event
  local show = self["on_" .. event.kind]
  if show and (record.agentId == "main" or vim.startswith(event.kind, "tool")) then
    show(self, event, record)
    vim.cmd.redrawstatus({ bang = true })
  end
end

function Chat:on_turnQueued(_, record)
  table.insert(self.queued, record.turnId)
  self:show_queue()
end

function Chat:on_turnStarted(event, record)
  self.turn, self.mode, self.model, self.session = record.turnId, event.mode, event.model, record.sessionId
  self:unqueue(record.turnId)
  local said = self.said[record.turnId]
  local lines = { "## " .. event.mode:gsub("_mode", ""):gsub("^%l", string.upper) }
  if said and said.text ~= "" then
    vim.list_extend(lines, { "" })
    vim.list_extend(lines, vim.split(said.text, "\n", { plain = true }))
  end
  self.transcript:append(lines)
end

function Chat:on_activityChanged(event)
  self.activity = event.activity
end

function Chat:on_textStreamed(event)
  self.transcript:stream("text", event.text)
end

function Chat:on_thinkingStreamed(event)
  self.transcript:stream("thinking", event.text)
end

function Chat:on_streamRolledBack()
  self.transcript:roll_back()
end

function Chat:on_messageFinished()
  self.transcript:finish_message()
end

function Chat:on_toolStarted(event)
  self.transcript:start_tool(event.callId, event.name .. ": " .. event.description)
end

function Chat:on_toolProgress(event)
  self.transcript:tell_of_tool(event.callId, event.text)
end

function Chat:on_toolFinished(event)
  local label = event.name .. ": " .. event.description
  local added, removed = event.added or 0, event.removed or 0
  if added + removed > 0 then
    label = ("%s (+%d −%d)"):format(label, added, removed)
  end
  self.transcript:finish_tool(event.callId, event.status, label)
end

function Chat:on_todosChanged(event)
  self.transcript:show_todos(event.todos)
end

function Chat:on_usageChanged(event)
  self.usage = event.usage
end

function Chat:on_modelChanged(event)
  self.model = event.running
end

function Chat:on_notice(event)
  self.transcript:append({ ("*%s: %s*"):format(event.level, (event.message:gsub("\n", " "))) })
end

function Chat:on_backgroundFinished(event)
  self.transcript:append({ ("*%s: %s*"):format(event.description, (event.message:gsub("\n", " "))) })
end

function Chat:on_compacted(event)
  if event.status == "succeeded" then
    self.transcript:append({ ("*compacted: %d → %d tokens*"):format(event.before, event.after) })
  end
end

function Chat:on_turnFinished(event, record)
  local outcome = event.outcome
  self:unqueue(record.turnId)
  self.said[record.turnId] = nil
  if self.turn == record.turnId then
    self.turn, self.activity, self.usage = nil, "idle", outcome.usage
    self.transcript:finish_turn()
  end
  local parts = { (outcome.reason:gsub("_", " ")) }
  if outcome.detail then
    parts[1] = parts[1] .. ": " .. outcome.detail:gsub("\n", " ")
  end
  table.insert(parts, M.cost(outcome.usage))
  self.transcript:append({ "*" .. table.concat(parts, " · ") .. "*" })
end

---@param why string
function Chat:server_ended(why)
  self.client_id, self.turn, self.activity, self.queued = nil, nil, "idle", {}
  self.transcript:finish_turn()
  self:show_queue()
  self.transcript:append({ ("*%s; :OdinRestart starts it again*"):format(why) })
end

---@private
function Chat:unqueue(turn)
  self.queued = vim.tbl_filter(function(it)
    return it ~= turn
  end, self.queued)
  self:show_queue()
end

---@private
function Chat:show_queue()
  self.transcript:show_queue(vim.tbl_map(function(turn)
    return self.said[turn] and self.said[turn].text or turn
  end, self.queued))
end

---What happens, in a few words; empty while nothing does.
---@return string
function Chat:status()
  local parts = {}
  if self.turn then
    table.insert(parts, (self.mode:gsub("_mode", "")) .. ": " .. (self.activity:gsub("_", " ")))
  end
  if #self.queued > 0 then
    table.insert(parts, #self.queued .. " queued")
  end
  return table.concat(parts, " · ")
end

---Tokens and money, as far as they are known.
---@param usage? odin.Usage
---@return string
function M.cost(usage)
  if not usage then
    return ""
  end
  local into = (usage.inputTokens or 0) + (usage.cacheReadTokens or 0) + (usage.cacheWriteTokens or 0)
  local tokens = ("%s in, %d out"):format(require("odin.words").count(into, "token"), usage.outputTokens or 0)
  local money = usage.costUsd or 0
  return money > 0 and ("%s · $%.4f"):format(tokens, money) or tokens
end

---The line above the chat.
---@return string
function M.winbar()
  local chat = chats[vim.b.odin_root or ""]
  if not chat then
    return ""
  end
  local parts = vim.tbl_filter(function(it)
    return it ~= ""
  end, { "Odin", chat.model or "", chat:status(), M.cost(chat.usage) })
  return (table.concat(parts, " · "):gsub("%%", "%%%%")) .. "%<"
end

---Show the chat beside the current window, and the prompt below it; the prompt is entered if the user wants to type.
---@param root string
---@param opts { enter: boolean }
function M.open(root, opts)
  local chat = M.of_root(root)
  local here = vim.api.nvim_get_current_win()
  local window = vim.fn.win_findbuf(chat.transcript.bufnr)[1]
  if not window or vim.api.nvim_win_get_tabpage(window) ~= vim.api.nvim_get_current_tabpage() then
    window = M.split(chat.transcript.bufnr, "right", require("odin.config").get().chat_width, -1)
    vim.wo[window].foldmethod = "expr"
    vim.wo[window].foldexpr = "v:lua.require'odin.transcript'.fold(v:lnum)"
    vim.wo[window].foldtext = "v:lua.require'odin.transcript'.fold_text()"
    vim.wo[window].foldlevel = 0
    vim.wo[window].wrap = true
    vim.wo[window].linebreak = true
    vim.wo[window].winbar = "%{%v:lua.require'odin.chat'.winbar()%}"
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(chat.transcript.bufnr), 0 })
  end
  local prompt = require("odin.prompt").open(chat, window)
  vim.api.nvim_set_current_win(opts.enter and prompt or here)
end

---Close the chat's windows in this tab.
---@param root string
---@return boolean closed
function M.close(root)
  local chat = chats[root]
  local closed = false
  for _, window in ipairs(chat and vim.api.nvim_tabpage_list_wins(0) or {}) do
    local bufnr = vim.api.nvim_win_get_buf(window)
    if vim.b[bufnr].odin_root == root and #vim.api.nvim_list_wins() > 1 then
      vim.api.nvim_win_close(window, true)
      closed = true
    end
  end
  return closed
end

---@param bufnr integer
---@param side "right"|"below"
---@param size integer
---@param beside integer
---@return integer window
function M.split(bufnr, side, size, beside)
  local opts = { split = side, win = beside }
  opts[side == "right" and "width" or "height"] = size
  local window = vim.api.nvim_open_win(bufnr, false, opts)
  vim.wo[window].number = false
  vim.wo[window].relativenumber = false
  vim.wo[window].signcolumn = "no"
  vim.wo[window][side == "right" and "winfixwidth" or "winfixheight"] = true
  return window
end

return M
