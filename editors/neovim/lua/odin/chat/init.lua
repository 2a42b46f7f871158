-- One chat for each root: what was said, what happens now, and a prompt below it.

local Story = require("odin.session.story")
local Transcript = require("odin.chat.transcript")
local words = require("odin.words")

---@alias odin.Held { record: odin.EventRecord, client_id: integer }[]

---@class odin.Chat
---@field root string
---@field transcript odin.Transcript
---@field story odin.Story What the transcript tells.
---@field session? string
---@field title? string Of the session.
---@field client_id? integer
---@field activity string What the server does; `idle` between turns.
---@field turn? string The running turn.
---@field mode? string
---@field model? string
---@field role? string
---@field is_compacting? boolean A summary is being written, now or beside the work.
---@field usage? odin.Usage
---@field plan? string The last plan that was made.
---@field before? integer Where the events are that come before those that are told.
---@field private sent table<string, string> What the user said here, by turn.
---@field queued string[] Turns that wait.
---@field private held? odin.Held What happens while a session is being read.
---@field private shown? string What statuslines tell of it.
---@field private told integer The last event of this server that was read with the session.
local Chat = {}
Chat.__index = Chat

local WAITING = ":OdinContinue to send, :OdinCancel return to edit"

local M = {}
---@type table<string, odin.Chat>
local chats = {}

---@param root string
---@return odin.Chat
function M.of_root(root)
  local chat = chats[root]
  if not chat then
    chat = setmetatable({ root = root, activity = "idle", sent = {}, queued = {}, told = 0 }, Chat)
    chats[root] = chat
  end
  if not chat.transcript or not vim.api.nvim_buf_is_loaded(chat.transcript.bufnr) then
    chat.transcript = Transcript.new(require("odin.chat.window").buffer("chat", root))
    chat.story = Story.new(chat.transcript, root)
    require("odin.keys").chat(chat)
    if chat.session and chat.client_id then
      require("odin.session.sessions").show(root, chat.session)
    end
  end
  return chat
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
  return chats[require("odin.client.roots").of(0)]
end

---Send what the user says as a turn; what runs already comes first.
---@param mode "ask"|"plan"|"edit"|"init"
---@param text string
---@param context? odin.ContextItem[]
---@param is_of_files? boolean Some of the text is of files, such as comments: nobody has typed it.
function Chat:send(mode, text, context, is_of_files)
  local turn = self:mint(text)
  self.transcript:show_end()
  local argument = { turnId = turn }
  if mode ~= "init" then
    argument.text, argument.sessionId = text, self.session
    argument.context = context and #context > 0 and context or nil
    if is_of_files then
      argument.typed = false
    end
  end
  require("odin.client.request").execute(self.root, mode, argument, nil, function(message)
    self.sent[turn] = nil
    M.of_root(self.root).story:note(message)
  end)
end

---An id for a turn that is sent from here.
---@param text string
---@return string turn
function Chat:mint(text)
  local turn = ("nvim-%d-%d"):format(vim.fn.getpid(), vim.uv.hrtime())
  self.sent[turn] = text
  return turn
end

---Send what waits since a turn was cancelled, or take up the last turn where it was cut off or has failed.
function Chat:go_on()
  if self:has_waiting() then
    require("odin.client.request").execute(self.root, "queue", { action = "resume" })
    return
  end
  require("odin.client.request").execute(self.root, "continue", { sessionId = self.session }, nil, function(message)
    M.of_root(self.root).story:note(message)
  end)
end

---Something happens. While a session is being read it waits, and is heard after that.
---@param record odin.EventRecord
---@param client_id integer
---@return boolean heard
function Chat:hear(record, client_id)
  if self.held then
    table.insert(self.held, { record = record, client_id = client_id })
    return false
  end
  if self.client_id ~= client_id then
    self.client_id, self.told = client_id, 0
  end
  if record.seq > self.told and self:is_about(record) then
    self:take(record)
    self:show_status()
  end
  return true
end

---Have windows and statuslines tell what they show of it, if that is another thing than before: not for every token.
---@private
function Chat:show_status()
  local shown = require("odin.session.status").bar(self) .. require("odin.review").count(self.root)
  if shown ~= self.shown then
    self.shown = shown
    vim.cmd.redrawstatus({ bang = true })
  end
end

---Whether it belongs to the session that is shown. What the user says here may begin one, and so does a turn that has
---waited since before Neovim was started.
---@private
---@param record odin.EventRecord
---@return boolean
function Chat:is_about(record)
  if self.sent[record.turnId] then
    self.session = record.sessionId
  elseif not self.session and record.event.kind == "turnStarted" then
    require("odin.session.sessions").show(self.root, record.sessionId)
    return false
  end
  return record.sessionId == self.session or record.sessionId == ""
end

---Draw an event and follow what it tells, whether it has just happened or is read from the session.
---@param record odin.EventRecord
function Chat:take(record)
  local follow = self["on_" .. record.event.kind]
  if follow and record.agentId == "main" then
    follow(self, record.event, record)
  end
  self.story:take(record)
end

---A session is being read, to be shown from here on.
---@param session string
---@return odin.Held awaited
function Chat:await(session)
  if self.session ~= session then
    self.sent, self.title, self.plan = {}, nil, nil
    self:forget()
  end
  self.session, self.held = session, vim.list_slice(self.held or {})
  return self.held
end

---Whether it is still to be shown, and no other one is, nor the same one read anew.
---@param awaited odin.Held
---@return boolean
function Chat:is_awaiting(awaited)
  return self.held == awaited
end

---Show a session; what happened after that is heard when its queue is known.
---@param page odin.EventPage
---@param client_id integer
function Chat:restore(page, client_id)
  self.story = Story.new(self.transcript, self.root)
  self.client_id, self.turn, self.before, self.told = client_id, nil, page.before, page.seq or 0
  for _, record in ipairs(page.events) do
    self:take(record)
  end
  self.story:take_cut_off()
  self.story:show_earlier(page.earlierTurns, self.before == nil)
  self.transcript:show_end()
end

---What waits in the session that is shown, as the server knows it.
---@param queue odin.QueuedMessage[]
function Chat:restore_queue(queue)
  self.queued = {}
  for _, message in ipairs(queue) do
    self.sent[message.turnId] = message.body
    table.insert(self.queued, message.turnId)
  end
  self:show_queue()
end

---Put queued messages back into the prompt.
---@param messages odin.QueuedMessage[]
function Chat:give_back(messages)
  local bodies, context = {}, {}
  for _, message in ipairs(messages) do
    self:unqueue(message.turnId)
    table.insert(bodies, message.body)
    vim.list_extend(context, message.context or {})
  end
  require("odin.chat.prompt").give_back(self, table.concat(bodies, "\n\n"), context)
end

---Show what comes before that.
---@param page odin.EventPage
function Chat:restore_earlier(page)
  self.before = page.before
  self.story:take_earlier(page.events, page.earlierTurns, self.before == nil)
end

---Hear what has happened while a session was being read.
function Chat:go_on_hearing()
  local held = self.held or {}
  self.held = nil
  for _, it in ipairs(held) do
    require("odin.client.events").take(it.record, it.client_id)
  end
end

function Chat:on_turnQueued(_, record)
  if not vim.list_contains(self.queued, record.turnId) then
    table.insert(self.queued, record.turnId)
  end
  self:show_queue()
end

---@param event odin.TurnStarted
function Chat:on_turnStarted(event, record)
  self.turn, self.mode = record.turnId, event.mode
  self.model = event.model ~= "" and event.model or self.model
  self:unqueue(record.turnId)
end

---@param event odin.ActivityChanged
function Chat:on_activityChanged(event)
  self.activity = event.activity
end

---@param event odin.UsageChanged
function Chat:on_usageChanged(event)
  self.usage = event.usage
end

---@param event odin.ModelChanged
function Chat:on_modelChanged(event)
  self.model = event.running
end

---@param event odin.RoleChanged
function Chat:on_roleChanged(event)
  self.role = event.role
end

---@param event odin.Compacted
function Chat:on_compacted(event)
  self.is_compacting = event.status == "started"
end

---@param event odin.TurnFinished
function Chat:on_turnFinished(event, record)
  self:unqueue(record.turnId)
  self.sent[record.turnId] = nil
  self.plan = event.outcome.plan or self.plan
  if self.turn == record.turnId then
    self.turn, self.activity, self.usage, self.is_compacting = nil, "idle", event.outcome.usage, false
    self:show_queue()
  end
end

---@param event odin.SessionRenamed
function Chat:on_sessionRenamed(event)
  self.title = event.title
end

---Without messages: somebody has cleared the session that is shown.
---@param event odin.SessionRestored
function Chat:on_sessionRestored(event)
  self.title = event.messages > 0 and event.title or nil
  if event.messages == 0 and not self.story:is_empty() then
    require("odin.session.sessions").show(self.root, event.sessionId)
  end
end

---@param why? string Without it: the user wanted it so.
function Chat:server_ended(why)
  self.client_id = nil
  self:forget()
  self.transcript:forget_progress()
  self.story.calls:finish()
  if why then
    self.story:note(why .. "; :OdinRestart restarts it")
  end
  self:go_on_hearing()
end

---Nothing runs, and nothing waits for its turn.
---@private
function Chat:forget()
  self.turn, self.activity, self.queued, self.is_compacting = nil, "idle", {}, false
  self:show_queue()
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
  local word = self:has_waiting() and "waiting" or "queued"
  local lines = vim.tbl_map(function(turn)
    return ("%s: %s"):format(word, words.flat(self.sent[turn] or turn))
  end, self.queued)
  self.transcript:show_queue(vim.list_extend(lines, { self:has_waiting() and WAITING or nil }))
end

---Whether messages wait although nothing runs: their turn was cancelled.
---@return boolean
function Chat:has_waiting()
  return not self.turn and #self.queued > 0
end

---@return boolean told Whether there is something to tell.
function Chat:tell_of_queue()
  if #self.queued > 0 then
    local head = words.count(#self.queued, "message") .. " waiting: "
    words.say_briefly({ head .. WAITING, head .. ":OdinContinue to send" })
  end
  return #self.queued > 0
end

---@private
function Chat:read_role()
  require("odin.client.request").execute(self.root, "role", {}, function(state)
    self.role = state.role
    vim.cmd.redrawstatus({ bang = true })
  end)
end

---Show the chat, and the prompt below it, which is entered if the user wants to type.
---@param root string
---@param opts { enter: boolean }
function M.open(root, opts)
  local chat, here = M.of_root(root), vim.api.nvim_get_current_win()
  local prompt = require("odin.chat.prompt")
  local windows, is_new = require("odin.chat.window").show(chat.transcript.bufnr, prompt.buffer(chat))
  if is_new then
    chat.transcript:show_end()
  end
  if opts.enter then
    vim.api.nvim_set_current_win(windows.prompt)
    vim.cmd.startinsert({ bang = true })
  else
    vim.api.nvim_set_current_win(here)
  end
  if not chat.role and not require("odin.client.life").problem() then
    chat:read_role()
  end
end

return M
