-- How events read in the chat: lines of Markdown, from nothing but what the events say.

local files = require("odin.client.files")
local words = require("odin.words")

local M = {}

local TODO = { pending = "- [ ] ", in_progress = "- [ ] **", completed = "- [x] " }
local STATES = { "accepted", "modified", "rejected", "superseded", "pending" }
local FATES = { introduced = "✗ introduced:", unsure = "✗ found:", fixed = "✓ fixed:" }
local SUBAGENTS = { completed = "✓", stopped = "✗", failed = "✗", cancelled = "⊘" }
local GO_ON = ":OdinContinue continues the turn"
local KEYS = { anthropic = "ANTHROPIC_API_KEY", google = "GEMINI_API_KEY", openai = "OPENAI_API_KEY" }

---What the user said, below its mode, and what went with it.
---@param event odin.TurnStarted
---@param root string
---@return string[]
function M.heading(event, root)
  local lines = { "## " .. event.mode:gsub("_mode", ""):gsub("^%l", string.upper) }
  if event.text and event.text ~= "" then
    table.insert(lines, "")
    vim.list_extend(lines, words.lines(event.text))
  end
  local sent = vim.tbl_map(function(it)
    return it.name and it.name ~= "" and it.name or it.mediaType
  end, event.attached or {})
  for _, it in ipairs(event.context or {}) do
    table.insert(sent, M.sent(it, root))
  end
  return vim.list_extend(lines, #sent > 0 and { "", ("*with %s*"):format(table.concat(sent, ", ")) } or {})
end

---Something that went with a message: `a.py:2-3`, `problems in a.py`.
---@param it odin.SentContext
---@param root string
---@return string
function M.sent(it, root)
  local about = it.name or it.uri and files.shown(it.uri, root) or it.kind
  if it.kind == "diagnostics" then
    return it.uri and "problems in " .. about or "problems"
  elseif it.firstLine and not it.name then
    local last = it.lastLine and it.lastLine > it.firstLine and ("-%d"):format(it.lastLine) or ""
    return ("%s:%d%s"):format(about, it.firstLine, last)
  end
  return about
end

---@param text string
---@return string[]
function M.quoted(text)
  return vim.tbl_map(function(line)
    return "> " .. line
  end, words.lines(text))
end

---@param todos odin.Todo[]
---@return string[]
function M.todos(todos)
  return vim.tbl_map(function(todo)
    local closing = todo.status == "in_progress" and "**" or ""
    return TODO[todo.status] .. words.flat(todo.content) .. closing
  end, todos)
end

---@param question odin.Question
---@param answer? string
---@return string
function M.question(question, answer)
  local header = question.header and question.header .. ": " or ""
  local about = question.command and (" `%s`"):format(words.command(question.command)) or ""
  return "- ? " .. words.flat(header .. question.title .. about .. (answer and ": " .. answer or ""))
end

---What was answered, in the words of the question.
---@param question odin.Question
---@param answer odin.Answer
---@return string
function M.answer(question, answer)
  local said = {}
  for _, option in ipairs(question.options or {}) do
    if vim.list_contains(answer.optionIds or {}, option.id) then
      table.insert(said, option.label)
    end
  end
  vim.list_extend(said, { answer.text })
  vim.list_extend(said, { answer.command and ("`%s` in its place"):format(words.command(answer.command)) })
  return #said > 0 and table.concat(said, "; ") or "no answer"
end

---How many hunks of each file are in which state.
---@param told { label: string, hunks: string[] }[]
---@param states table<string, string> By hunk.
---@param pending string What is not decided is called so.
---@return string[]
function M.review(told, states, pending)
  return vim.tbl_map(function(file)
    local counts, parts = {}, {}
    for _, hunk in ipairs(file.hunks) do
      counts[states[hunk]] = (counts[states[hunk]] or 0) + 1
    end
    for _, state in ipairs(STATES) do
      if counts[state] then
        table.insert(parts, ("%d %s"):format(counts[state], state == "pending" and pending or state))
      end
    end
    return ("- ± %s: %s"):format(file.label, table.concat(parts, ", "))
  end, told)
end

---@param file odin.ReviewFile
---@param root string
---@return string
function M.label(file, root)
  local path = files.shown(file.uri, root)
  if file.operation == "edit" then
    return path
  elseif file.operation == "rename" then
    return ("%s → %s"):format(path, files.shown(file.newUri, root))
  end
  return ("%s (%s)"):format(path, file.operation)
end

---@param about string What it was asked for.
---@param status? "completed"|"stopped"|"failed"|"cancelled" Without it: it works.
---@param summary? string
---@return string
function M.subagent(about, status, summary)
  local how = status and status ~= "completed" and (" (%s)"):format(status) or ""
  local said = summary and summary ~= "" and ": " .. summary or ""
  return ("- %s subagent: %s"):format(SUBAGENTS[status] or "⋯", words.flat(about .. how .. said))
end

---@param event odin.DiagnosticsCompared
---@param root string
---@return string[]
function M.problems(event, root)
  local lines = {}
  for _, fate in ipairs({ "introduced", "unsure", "fixed" }) do
    for _, it in ipairs(event[fate] or {}) do
      table.insert(lines, ("- %s %s"):format(FATES[fate], M.problem(it, root)))
    end
  end
  return vim.list_extend(lines, (event.leftOff or 0) > 0 and { ("- … %d more"):format(event.leftOff) } or {})
end

---@param it odin.Diagnostic
---@param root string
---@return string
function M.problem(it, root)
  local who = table.concat({ it.source or "", it.code or "" }, " ")
  local kind = it.severity == "error" and "" or it.severity .. ": "
  local line = ("%s:%d %s%s"):format(files.shown(it.uri, root), it.line, kind, it.message)
  return words.flat(vim.trim(who) == "" and line or ("%s [%s]"):format(line, vim.trim(who)))
end

---How a turn has ended, what helps, and what it has left broken.
---@param outcome odin.Outcome
---@param at? number When.
---@param root string
---@return string[]
function M.ending(outcome, at, root)
  local how = outcome.reason:gsub("_", " ") .. (outcome.detail and ": " .. outcome.detail or "")
  local lines = { table.concat({ how, words.cost(outcome.usage) }, " · ") }
  vim.list_extend(lines, { M.help(outcome, at) })
  for _, it in ipairs(outcome.diagnostics or {}) do
    table.insert(lines, "left by this turn: " .. M.problem(it, root))
  end
  return lines
end

---What the user can do about a turn that has not come to its end.
---@param outcome odin.Outcome
---@param at? number
---@return string?
function M.help(outcome, at)
  local problem = outcome.problem or {}
  local when = problem.retryAfter and at and os.date("%H:%M", math.ceil(at + problem.retryAfter) + 59)
  if problem.kind == "key" then
    local variable = KEYS[problem.provider] or "…_API_KEY"
    return (":let $%s = 'your key', then :OdinRestart; %s"):format(variable, GO_ON)
  elseif problem.kind == "limited" or problem.kind == "unavailable" then
    return when and ("the provider may answer again at %s; %s then"):format(when, GO_ON) or GO_ON .. ", in a while"
  elseif problem.kind == "too_long" then
    return ":OdinSessions new starts a new session"
  elseif problem.kind == "model" then
    return ":OdinModel selects another model; " .. GO_ON
  elseif problem.kind == "internal" or outcome.reason == "aborted" or vim.startswith(outcome.reason, "max_") then
    return GO_ON
  end
end

---@param event odin.TurnUndone
---@param root string
---@return string
function M.undone(event, root)
  local kept = vim.tbl_map(function(it)
    return ("%s stays: %s"):format(files.shown(it.uri, root), it.reason)
  end, event.kept or {})
  local restored = "undone: " .. words.count(#event.restored, "file") .. " restored"
  return table.concat(vim.list_extend({ restored }, kept), "; ")
end

return M
