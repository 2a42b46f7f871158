-- A session as the chat tells it. Each event becomes a part of the transcript, whether it has just happened or is read
-- from the session's log: what it is put together from is the same.

local Calls = require("odin.session.calls")
local lines = require("odin.session.lines")
local words = require("odin.words")

---@class odin.Ending
---@field lines string[] How the turn ended.
---@field undone? string
---@field is_headed? boolean What the user said is told.
---@field is_own? boolean It is a command of the user's own, whose output is not folded.

---@class odin.ToldFile
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
---@field private subagents table<string, string> What each was asked for.
---@field private reviews table<string, { files: odin.ToldFile[], states: table<string, string> }>
local Story = {}
Story.__index = Story

local EARLIER = "earlier"

---@param transcript odin.Transcript
---@param root string
---@return odin.Story
function Story.new(transcript, root)
  local story = { transcript = transcript, root = root, is_earlier = false, calls = Calls.new(transcript) }
  for _, known in ipairs({ "endings", "early", "questions", "reviews", "subagents" }) do
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
  local line = ("*%s: p or :OdinSessions earlier shows more*"):format(what)
  self.transcript:above("", function()
    self.transcript:put(EARLIER, { line })
  end)
end

---@param message string
function Story:note(message)
  self.transcript:put(nil, { ("*%s*"):format(words.flat(message)) })
end

---@param event odin.TurnStarted
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
  self.transcript:put(turn, lines.heading(event, self.root))
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

---@param event odin.UserSpoke
function Story:on_userSpoke(event)
  self.transcript:put(nil, lines.quoted(event.text))
end

---@param event odin.TextStreamed
function Story:on_textStreamed(event)
  self.transcript:stream("text", event.text)
end

---@param event odin.ThinkingStreamed
function Story:on_thinkingStreamed(event)
  self.transcript:stream("thinking", event.text)
end

function Story:on_streamRolledBack()
  self.calls:forget_written()
  self.transcript:finish_message({})
end

---@param event odin.MessageFinished
function Story:on_messageFinished(event)
  local Transcript = require("odin.chat.transcript")
  local thinking, text = event.thinking or "", event.text
  local message = thinking ~= "" and Transcript.thought(thinking, event.thinkingMs) or {}
  if text ~= "" then
    vim.list_extend(message, #message > 0 and { "" } or {})
    vim.list_extend(message, Transcript.indented("text", text))
  end
  self.calls:forget_written()
  self.transcript:finish_message(message)
end

---@param event odin.ArgumentsStreamed
function Story:on_argumentsStreamed(event, record)
  self.calls:write(Story.key(record, "draft", event.callId), event)
end

---@param event odin.ToolQueued
function Story:on_toolQueued(event, record)
  self.calls:queue(Story.key(record, "call", event.callId), event)
end

---@param event odin.ToolStarted
function Story:on_toolStarted(event, record)
  self.calls:start(Story.key(record, "call", event.callId), event)
end

---@param event odin.ToolProgress
function Story:on_toolProgress(event, record)
  self.transcript:tell_of(Story.key(record, "call", event.callId), event.text)
end

---@param event odin.ToolFinished
function Story:on_toolFinished(event, record)
  self:show_call(event, record, event.status, event.description)
end

---@param event odin.BackgroundFinished
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

---@param event odin.TodosChanged
function Story:on_todosChanged(event, record)
  self.transcript:put(Story.key(record, "todos", ""), lines.todos(event.todos))
end

---@param event odin.QuestionAsked
function Story:on_questionAsked(event, record)
  local question = event.question
  if question.kind == "review" then
    return
  end
  self.questions[question.questionId] = question
  self:show_question(question, record)
end

---@param event odin.QuestionAnswered
function Story:on_questionAnswered(event, record)
  local question = self.questions[event.questionId]
  if not question then
    return
  end
  self:show_question(question, record, lines.answer(question, event.answer or {}))
end

---@private
---@param question odin.Question
---@param record odin.EventRecord
---@param answer? string
function Story:show_question(question, record, answer)
  self.transcript:put(Story.key(record, "question", question.questionId), { lines.question(question, answer) }, true)
end

---@param event odin.ReviewOpened
function Story:on_reviewOpened(event, record)
  local review = { files = {}, states = {} }
  for _, file in ipairs(event.proposal.files) do
    local ids = {}
    for _, hunk in ipairs(file.hunks) do
      table.insert(ids, hunk.id)
      review.states[hunk.id] = hunk.state or "pending"
    end
    table.insert(review.files, { label = lines.label(file, self.root), hunks = ids })
  end
  self.reviews[event.proposal.proposalId] = review
  self:show_review(event.proposal.proposalId, record, "waiting")
end

---@param event odin.ReviewChanged
function Story:on_reviewChanged(event, record)
  if self:decide(event.proposalId, event.hunks, "id") then
    self:show_review(event.proposalId, record, "waiting")
  end
end

---@param event odin.ReviewClosed
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
  self.transcript:put(Story.key(record, "review", id), lines.review(review.files, review.states, pending), true)
end

---@param event odin.DiagnosticsCompared
function Story:on_diagnosticsCompared(event)
  local problems = lines.problems(event, self.root)
  if #problems > 0 then
    self.transcript:put(nil, problems, true)
  end
end

---@param event odin.SubagentStarted
function Story:on_subagentStarted(event, record)
  self.subagents[event.agentId] = event.description
  self.transcript:put(Story.key(record, "subagent", event.agentId), { lines.subagent(event.description) }, true)
end

---@param event odin.SubagentFinished
function Story:on_subagentFinished(event, record)
  local about = self.subagents[event.agentId]
  if about then
    local line = lines.subagent(about, event.status, event.summary)
    self.transcript:put(Story.key(record, "subagent", event.agentId), { line }, true)
  end
end

---@param event odin.Notice
function Story:on_notice(event)
  self:note(event.level .. ": " .. event.message)
end

---@param event odin.Compacted
function Story:on_compacted(event)
  if event.status == "succeeded" then
    self:note(("compacted: %d → %d tokens"):format(event.before, event.after))
  end
end

---@param event odin.RoleChanged
function Story:on_roleChanged(event)
  self:note(("the role is now %s"):format(event.role))
end

---@param event odin.ModelChanged
function Story:on_modelChanged(event)
  if event.running ~= event.selected then
    self:note(("%s answers in place of %s"):format(event.running, event.selected))
  end
end

---@param event odin.TurnFinished
function Story:on_turnFinished(event, record)
  self.transcript:finish_message({})
  self.transcript:forget_progress()
  self.calls:finish()
  self.endings[record.turnId].lines = lines.ending(event.outcome, record.at, self.root)
  self:show_ending(record.turnId)
end

---@param event odin.TurnUndone
function Story:on_turnUndone(event, record)
  local ending = self.endings[record.turnId]
  if not ending then
    return -- a turn that is not shown
  end
  ending.undone = not event.again and lines.undone(event, self.root) or nil
  self:show_ending(record.turnId)
end

---@private
---@param turn string
function Story:show_ending(turn)
  local ending = self.endings[turn]
  local said = vim.list_extend({ unpack(ending.lines) }, { ending.undone })
  self.transcript:put(
    turn .. "/end",
    vim.tbl_map(function(line)
      return ("*%s*"):format(words.flat(line))
    end, said)
  )
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
