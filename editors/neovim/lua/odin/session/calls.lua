-- Calls of tools in the transcript: while the model writes them, while they wait and run, and what came of them.

local words = require("odin.words")

---@class odin.Calls
---@field private transcript odin.Transcript
---@field private about table<string, string> By key: what was used, and of a command what it is.
---@field private written table<string, string> By key: the JSON of a call, as far as it has come.
---@field private queued table<string, boolean> Keys of those that wait for others of their step.
local Calls = {}
Calls.__index = Calls

local QUEUED = "/queued"
local SIGNS = { running = "⋯", success = "✓", error = "✗", cancelled = "⊘" }
local WRITTEN_LINES = 8
---Tools that are shown otherwise, or say nothing while they are written.
local UNWRITTEN = { AgentTool = true, AskUser = true, TodoWrite = true }
---What a call is about, by the names that tools have for it.
local SUBJECTS = { file_path = true, path = true, command = true, pattern = true, url = true }

---@param transcript odin.Transcript
---@return odin.Calls
function Calls.new(transcript)
  return setmetatable({ transcript = transcript, about = {}, written = {}, queued = {} }, Calls)
end

---More of a call that the model is making: what it is about, and the end of what grows in it.
---@param key string
---@param event table<string, any>
function Calls:write(key, event)
  if UNWRITTEN[event.name] then
    return
  end
  self.written[key] = (self.written[key] or "") .. event.text
  local subject, text = Calls.seen(self.written[key])
  local lines = { ("- ✎ %s: %s"):format(event.name, words.flat(subject)) }
  local grown = text ~= "" and require("odin.chat.transcript").indented("shown", text) or {}
  vim.list_extend(lines, vim.list_slice(grown, math.max(1, #grown - WRITTEN_LINES + 1)))
  self.transcript:put(key, lines, true)
end

---The message has ended, or comes again: its calls are told of in other ways, or not at all.
function Calls:forget_written()
  for key in pairs(self.written) do
    self.transcript:remove(key)
  end
  self.written = {}
end

---It waits for the others of its step; where it stands is decided when it starts.
---@param key string
---@param event table<string, any>
function Calls:queue(key, event)
  self.queued[key] = true
  local line = ("- ◦ %s: %s"):format(event.name, words.flat(event.description))
  self.transcript:put(key .. QUEUED, { line }, true)
end

---@private
---@param key string
function Calls:unqueue(key)
  if self.queued[key] then
    self.queued[key] = nil
    self.transcript:remove(key .. QUEUED)
  end
end

---@param key string
---@param event table<string, any>
function Calls:start(key, event)
  local command = event.arguments and event.arguments.command
  local about = type(command) == "string" and ("%s: `%s`"):format(event.name, words.command(command))
  self.about[key] = about or nil
  self:show(key, event, "running", about and "" or event.description)
end

---@param key string
---@param event table<string, any>
---@param status "running"|"success"|"error"|"cancelled"
---@param said string
---@param output? string
---@param is_own? boolean It is a command of the user's own, whose output is not folded.
function Calls:show(key, event, status, said, output, is_own)
  self:unqueue(key)
  local about = self.about[key] or event.name or ("`%s`"):format(words.command(event.command))
  local label = words.flat(said == "" and about or ("%s: %s"):format(about, said))
  local lines = { ("- %s %s"):format(SIGNS[status], label) }
  if output and vim.trim(output) ~= "" then
    local text = output:gsub("%s+$", ""):gsub("\r", "")
    vim.list_extend(lines, require("odin.chat.transcript").indented(is_own and "shown" or "output", text))
  end
  self.transcript:forget_progress(key)
  self.transcript:put(key, lines, true)
end

---The turn has ended, or its server: nothing comes of what is written, and nothing that waits comes to run.
function Calls:finish()
  self:forget_written()
  for _, key in ipairs(vim.tbl_keys(self.queued)) do
    self:unqueue(key)
  end
end

---What a call is about and the text that grows in it, as far as its JSON has come.
---@param json string
---@return string subject
---@return string text
function Calls.seen(json)
  local subject, text, at = nil, "", 1
  while true do
    local _, start, name = json:find('"([%w_]+)"%s*:%s*"', at)
    if not start then
      return subject or "", text
    end
    local value, stop = Calls.string(json, start + 1)
    if not subject and SUBJECTS[name] then
      subject = value
    else
      text = value
    end
    at = stop
  end
end

---The string that begins there, and where it ends; its last escape may be cut in two.
---@private
---@param json string
---@param start integer
---@return string value
---@return integer stop
function Calls.string(json, start)
  local at = start
  while true do
    local found = json:find('["\\]', at)
    local width = found and (json:sub(found + 1, found + 1) == "u" and 6 or 2)
    if not found or json:sub(found, found) == '"' or found + width - 1 > #json then
      local stop = (found or #json + 1) - 1
      local is_read, value = pcall(vim.json.decode, ('"%s"'):format(json:sub(start, stop)))
      return is_read and value or "", stop + 2
    end
    at = found + width
  end
end

return Calls
