-- A session as the chat tells it. Each event becomes a part of the transcript, whether it has just happened or is read
-- from the session's log: what it is put together from is the same.

local Calls = require("odin.calls")
local files = require("odin.files")
local words = require("odin.words")

---@class odin.Ending
---@field lines string[] How the turn ended.
---@field undone? string
---@field is_headed? boolean What the user said is told.
---@field is_own? boolean It is a command of the user's own, whose output is not folded.

---@class odin.ReviewedFile
---@field label string
---@field hunks string[]

---@class odin.Story
---@field private transcript odin.Transcript
---@field private root string
---@field private endings table<string, odin.Ending> By turn.
---@field private early table<string, odin.EventRecord[]> By turn: what was heard of it before its beginning.
---@field private is_earlier boolean What is told now comes before all that was told.
---@field calls odin.Calls
---@field private questions table<string, odin.Question>
---@field private reviews table<string, { files: odin.ReviewedFile[], states: table<string, string> }>
local Story = {}
Story.__index = Story

local EARLIER = "earlier"
local TODO = { pending = "- [ ] ", in_progress = "- [ ] **", completed = "- [x] " }
local STATES = { "accepted", "modified", "rejected", "superseded", "pending" }
local FATES = { introduced = "✗ introduced:", unsure = "✗ found:", fixed = "✓ fixed:" }
local GO_ON = ":OdinContinue goes on with it"
local KEYS = { anthropic = "ANTHROPIC_API_KEY", google = "GEMINI_API_KEY", openai = "OPENAI_API_KEY" }

---@param transcript odin.Transcript
---@param root string
---@return odin.Story
function Story.new(transcript, root)
  local story = { transcript = transcript, root = root, is_earlier = false, calls = Calls.new(transcript) }
  for _, known in ipairs({ "endings", "early", "questions", "reviews" }) do
    story[known] = {}
  end
  transcript:clear()
  return setmetatable(story, Story)
end

---@return boolean
function Story:is_empty()
  return next(self.endings) == nil
end

---@param record odin.EventRecord
function Story:take(record)
  local event, turn = record.event, record.turnId
  local tell = self["on_" .. event.kind]
  if not tell or not (record.agentId == "main" or vim.startswith(event.kind, "tool")) then
    return
  end
  if turn ~= "" and not self.endings[turn] and event.kind ~= "turnStarted" then
    self.early[turn] = vim.list_extend(self.early[turn] or {}, { record })
  else
    tell(self, event, record)
  end
end

---What has happened before all that was told so far.
---@param records odin.EventRecord[]
---@param left integer How many messages of the user there are before that.
---@param is_first boolean There is nothing before that.
function Story:take_earlier(records, left, is_first)
  self.is_earlier = true
  self.transcript:above(EARLIER, function()
    for _, record in ipairs(records) do
      self:take(record)
    end
  end)
  self.is_earlier = false
  for _, turn in ipairs(vim.tbl_keys(self.early)) do
    self:take_early(turn)
  end
  self:show_earlier(left, is_first)
end

---Say at the top what is not shown.
---@param left integer
---@param is_first boolean
function Story:show_earlier(left, is_first)
  self.transcript:remove(EARLIER)
  if is_first then
    return
  end
  local what = left > 0 and words.count(left, "earlier message") or "more above"
  local line = ("*%s: p shows more, and so does :OdinSessions earlier*"):format(what)
  self.transcript:above("", function()
    self.transcript:put(EARLIER, { line })
  end)
end

---@param message string
function Story:note(message)
  self.transcript:put(nil, { ("*%s*"):format(words.flat(message)) })
end

function Story:on_turnStarted(event, record)
  local turn = record.turnId
  local ending = self.endings[turn] or { lines = {} }
  if ending.is_headed then
    ending.lines = {} -- it goes on
    self.transcript:remove(turn .. "/end")
    return
  end
  ending.is_headed = true
  ending.is_own = vim.startswith(event.text or "", "!")
  self.endings[turn] = ending
  local lines = { "## " .. event.mode:gsub("_mode", ""):gsub("^%l", string.upper) }
  if event.text and event.text ~= "" then
    vim.list_extend(lines, { "" })
    vim.list_extend(lines, words.lines(event.text))
  end
  self.transcript:put(turn, lines)
  if not self.is_earlier then
    self:take_early(turn)
  end
end

---@private
---@param turn string
function Story:take_early(turn)
  local records = self.endings[turn] and self.early[turn] or {}
  if #records > 0 then
    self.early[turn] = nil
  end
  for _, record in ipairs(records) do
    self:take(record)
  end
end

---If no beginning was heard at all, the turn is so long that it was cut: tell it without.
function Story:take_cut_off()
  for _, turn in ipairs(self:is_empty() and vim.tbl_keys(self.early) or {}) do
    self.endings[turn] = { lines = {} }
    self:take_early(turn)
  end
end

function Story:on_userSpoke(event)
  self.transcript:put(
    nil,
    vim.tbl_map(function(line)
      return "> " .. line
    end, words.lines(event.text))
  )
end

function Story:on_textStreamed(event)
  self.transcript:stream("text", event.text)
end

function Story:on_thinkingStreamed(event)
  self.transcript:stream("thinking", event.text)
end

function Story:on_streamRolledBack()
  self.calls:forget_written()
  self.transcript:finish_message({})
end

function Story:on_messageFinished(event)
  local lines = {}
  for _, kind in ipairs({ "thinking", "text" }) do
    local text = event[kind] or ""
    if text ~= "" then
      vim.list_extend(lines, #lines > 0 and { "" } or {})
      vim.list_extend(lines, require("odin.transcript").indented(kind, text))
    end
  end
  self.calls:forget_written()
  self.transcript:finish_message(lines)
end

function Story:on_argumentsStreamed(event, record)
  self.calls:write(Story.key(record, "draft", event.callId), event)
end

function Story:on_toolQueued(event, record)
  self.calls:queue(Story.key(record, "call", event.callId), event)
end

function Story:on_toolStarted(event, record)
  self.calls:start(Story.key(record, "call", event.callId), event)
end

function Story:on_toolProgress(event, record)
  self.transcript:tell_of(Story.key(record, "call", event.callId), event.text)
end

function Story:on_toolFinished(event, record)
  self:show_call(event, record, event.status, event.description)
end

function Story:on_backgroundFinished(event, record)
  local is_well = event.status == "exited" and (event.exitCode or 0) == 0
  self:show_call(event, record, is_well and "success" or "error", event.message)
end

---@private
---@param event table<string, any>
---@param record odin.EventRecord
---@param status "success"|"error"|"cancelled"
---@param said string
function Story:show_call(event, record, status, said)
  local is_own = (self.endings[record.turnId] or {}).is_own
  self.calls:show(Story.key(record, "call", event.callId), event, status, said, event.output, is_own)
end

function Story:on_todosChanged(event, record)
  local lines = vim.tbl_map(function(todo)
    local closing = todo.status == "in_progress" and "**" or ""
    return TODO[todo.status] .. words.flat(todo.content) .. closing
  end, event.todos)
  self.transcript:put(Story.key(record, "todos", ""), lines)
end

function Story:on_questionAsked(event, record)
  local question = event.question
  if question.kind == "review" then
    return
  end
  self.questions[question.questionId] = question
  self:show_question(question, record, "")
end

function Story:on_questionAnswered(event, record)
  local question = self.questions[event.questionId]
  if not question then
    return
  end
  local answer, said = event.answer or {}, {}
  for _, option in ipairs(question.options or {}) do
    if vim.list_contains(answer.optionIds or {}, option.id) then
      table.insert(said, option.label)
    end
  end
  vim.list_extend(said, { answer.text })
  vim.list_extend(said, { answer.command and ("`%s` in its place"):format(words.command(answer.command)) })
  self:show_question(question, record, ": " .. (#said > 0 and table.concat(said, "; ") or "no answer"))
end

---@private
---@param question odin.Question
---@param record odin.EventRecord
---@param answer string
function Story:show_question(question, record, answer)
  local header = question.header and question.header .. ": " or ""
  local about = question.command and (" `%s`"):format(words.command(question.command)) or ""
  local line = "- ? " .. words.flat(header .. question.title .. about .. answer)
  self.transcript:put(Story.key(record, "question", question.questionId), { line }, true)
end

function Story:on_reviewOpened(event, record)
  local review = { files = {}, states = {} }
  for _, file in ipairs(event.proposal.files) do
    local ids = {}
    for _, hunk in ipairs(file.hunks) do
      table.insert(ids, hunk.id)
      review.states[hunk.id] = hunk.state or "pending"
    end
    table.insert(review.files, { label = self:label(file), hunks = ids })
  end
  self.reviews[event.proposal.proposalId] = review
  self:show_review(event.proposal.proposalId, record, "waiting")
end

function Story:on_reviewChanged(event, record)
  if self:decide(event.proposalId, event.hunks, "id") then
    self:show_review(event.proposalId, record, "waiting")
  end
end

function Story:on_reviewClosed(event, record)
  if self.reviews[event.proposalId] then
    self:decide(event.proposalId, event.receipts, "hunkId")
    self:show_review(event.proposalId, record, "not decided")
  end
end

---@private
---@param id string
---@param decided table<string, any>[]
---@param named "id"|"hunkId"
---@return boolean changed Not only where the hunks are.
function Story:decide(id, decided, named)
  local states = self.reviews[id] and self.reviews[id].states
  local changed = false
  for _, it in ipairs(states and decided or {}) do
    local state = it.state or "pending"
    changed = changed or states[it[named]] ~= state
    states[it[named]] = state
  end
  return changed
end

---@private
---@param id string
---@param record odin.EventRecord
---@param pending string What is not decided is called so.
function Story:show_review(id, record, pending)
  local review = self.reviews[id]
  local lines = vim.tbl_map(function(file)
    local counts, parts = {}, {}
    for _, hunk in ipairs(file.hunks) do
      counts[review.states[hunk]] = (counts[review.states[hunk]] or 0) + 1
    end
    for _, state in ipairs(STATES) do
      if counts[state] then
        table.insert(parts, ("%d %s"):format(counts[state], state == "pending" and pending or state))
      end
    end
    return ("- ± %s: %s"):format(file.label, table.concat(parts, ", "))
  end, review.files)
  self.transcript:put(Story.key(record, "review", id), lines, true)
end

---@private
---@param file odin.ProposedFile
---@return string
function Story:label(file)
  local path = files.shown(file.uri, self.root)
  if file.operation == "edit" then
    return path
  elseif file.operation == "rename" then
    return ("%s → %s"):format(path, files.shown(file.newUri, self.root))
  end
  return ("%s (%s)"):format(path, file.operation)
end

function Story:on_diagnosticsCompared(event)
  local lines = {}
  for _, fate in ipairs({ "introduced", "unsure", "fixed" }) do
    for _, it in ipairs(event[fate] or {}) do
      table.insert(lines, ("- %s %s"):format(FATES[fate], self:placed(it)))
    end
  end
  vim.list_extend(lines, (event.leftOff or 0) > 0 and { ("- … %d more"):format(event.leftOff) } or {})
  if #lines > 0 then
    self.transcript:put(nil, lines, true)
  end
end

---A problem in one line.
---@private
---@param it table<string, any>
---@return string
function Story:placed(it)
  local who = table.concat({ it.source or "", it.code or "" }, " ")
  local kind = it.severity == "error" and "" or it.severity .. ": "
  local line = ("%s:%d %s%s"):format(files.shown(it.uri, self.root), it.line, kind, it.message)
  return words.flat(vim.trim(who) == "" and line or ("%s [%s]"):format(line, vim.trim(who)))
end

function Story:on_notice(event)
  self:note(event.level .. ": " .. event.message)
end

function Story:on_compacted(event)
  if event.status == "succeeded" then
    self:note(("compacted: %d → %d tokens"):format(event.before, event.after))
  end
end

function Story:on_roleChanged(event)
  self:note(("the role is %s from now on"):format(event.role))
end

function Story:on_modelChanged(event)
  if event.running ~= event.selected then
    self:note(("%s answers in place of %s"):format(event.running, event.selected))
  end
end

function Story:on_turnFinished(event, record)
  local outcome = event.outcome
  local how = outcome.reason:gsub("_", " ") .. (outcome.detail and ": " .. outcome.detail or "")
  local lines = { table.concat({ how, words.cost(outcome.usage) }, " · ") }
  vim.list_extend(lines, { Story.help(outcome, record.at) })
  for _, it in ipairs(outcome.diagnostics or {}) do
    table.insert(lines, "left by this turn: " .. self:placed(it))
  end
  self.transcript:finish_message({})
  self.transcript:forget_progress()
  self.calls:finish()
  self.endings[record.turnId].lines = lines
  self:show_ending(record.turnId)
end

function Story:on_turnUndone(event, record)
  local ending = self.endings[record.turnId]
  if not ending then
    return -- a turn that is not shown
  end
  local kept = vim.tbl_map(function(it)
    return ("%s stays: %s"):format(files.shown(it.uri, self.root), it.reason)
  end, event.kept or {})
  local restored = "undone: " .. words.count(#event.restored, "file") .. " restored"
  ending.undone = not event.again and table.concat(vim.list_extend({ restored }, kept), "; ") or nil
  self:show_ending(record.turnId)
end

---@private
---@param turn string
function Story:show_ending(turn)
  local ending = self.endings[turn]
  local lines = vim.list_extend({ unpack(ending.lines) }, { ending.undone })
  self.transcript:put(
    turn .. "/end",
    vim.tbl_map(function(line)
      return ("*%s*"):format(words.flat(line))
    end, lines)
  )
end

---What the user can do about a turn that has not come to its end.
---@private
---@param outcome table<string, any>
---@param at? number
---@return string?
function Story.help(outcome, at)
  local problem = outcome.problem or {}
  local when = problem.retryAfter and at and os.date("%H:%M", math.ceil(at + problem.retryAfter) + 59)
  if problem.kind == "key" then
    local variable = KEYS[problem.provider] or "…_API_KEY"
    return (":let $%s = 'your key', then :OdinRestart; %s"):format(variable, GO_ON)
  elseif problem.kind == "limited" or problem.kind == "unavailable" then
    return when and ("it may answer again at %s; %s then"):format(when, GO_ON) or GO_ON .. ", in a while"
  elseif problem.kind == "too_long" then
    return ":OdinSessions new begins a new session"
  elseif problem.kind == "model" then
    return ":OdinModel chooses another model; " .. GO_ON
  elseif problem.kind == "internal" or outcome.reason == "aborted" or vim.startswith(outcome.reason, "max_") then
    return GO_ON
  end
end

---@private
---@param record odin.EventRecord
---@param kind string
---@param id string
---@return string
function Story.key(record, kind, id)
  return table.concat({ record.turnId, record.agentId, kind, id }, "/")
end

return Story
