-- The chat's text: a Markdown buffer that only grows at its end. Lines of tools and todos are renewed in place.

---@class odin.Transcript
---@field bufnr integer
---@field private streaming? "text"|"thinking" What the last block is, if more of it may come.
---@field private message? integer Mark where the message that is being streamed begins.
---@field private tools table<string, integer> Marks of tools by call.
---@field private todos? { mark: integer, count: integer } Where the turn's todos are.
---@field private last_was_tool? boolean The last line is a tool's.
---@field private queue? string[]
local Transcript = {}
Transcript.__index = Transcript

local MARKS = vim.api.nvim_create_namespace("odin.transcript")
local QUEUE = vim.api.nvim_create_namespace("odin.queue")
local THINKING = "┊ "
local TODO = { pending = "- [ ] ", in_progress = "- [ ] **", completed = "- [x] " }
local TOOL = { running = "⋯", success = "✓", error = "✗", cancelled = "⊘" }

---@param bufnr integer
---@return odin.Transcript
function Transcript.new(bufnr)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].undolevels = -1
  return setmetatable({ bufnr = bufnr, tools = {} }, Transcript)
end

---A block of its own.
---@param lines string[]
---@return integer row Of its first line.
function Transcript:append(lines)
  self.streaming = nil
  return self:put(lines)
end

---More text of a message, in a new block if something else came before.
---@param kind "text"|"thinking"
---@param text string
function Transcript:stream(kind, text)
  local prefix = kind == "thinking" and THINKING or ""
  if self.streaming ~= kind then
    local row = self:put({ prefix })
    self.streaming = kind
    self.message = self.message or self:mark(row)
  end
  local lines = vim.split(text, "\n", { plain = true })
  for index = 2, #lines do
    lines[index] = prefix .. lines[index]
  end
  self:change(function()
    local last = vim.api.nvim_buf_line_count(self.bufnr) - 1
    local width = #vim.api.nvim_buf_get_lines(self.bufnr, last, last + 1, true)[1]
    vim.api.nvim_buf_set_text(self.bufnr, last, width, last, width, lines)
  end)
end

---The message has ended well.
function Transcript:finish_message()
  self.streaming, self.message = nil, nil
end

---The message has failed and comes again: forget what was shown of it.
function Transcript:roll_back()
  local row = self.message and self:row(self.message)
  self:finish_message()
  if row then
    self:change(function()
      vim.api.nvim_buf_set_lines(self.bufnr, math.max(row - 1, 0), -1, false, row == 0 and { "" } or {})
    end)
  end
end

---@param id string
---@param label string
function Transcript:start_tool(id, label)
  self.streaming = nil
  local row = self:put({ self.tool_line("running", label) }, self.last_was_tool)
  self.last_was_tool = true
  self.tools[id] = self:mark(row)
end

---@param id string
---@param text string What it does right now.
function Transcript:tell_of_tool(id, text)
  local mark = self.tools[id]
  local row = mark and self:row(mark)
  if row then
    local said = vim.trim(text):match("[^\n]*$")
    local shown = { id = mark, virt_text = { { " " .. said, "Comment" } } }
    vim.api.nvim_buf_set_extmark(self.bufnr, MARKS, row, 0, shown)
  end
end

---@param id string
---@param status "success"|"error"|"cancelled"
---@param label string
function Transcript:finish_tool(id, status, label)
  local mark = self.tools[id]
  local row = mark and self:row(mark)
  if row then
    self.tools[id] = nil
    self:replace(row, 1, { self.tool_line(status, label) })
    vim.api.nvim_buf_del_extmark(self.bufnr, MARKS, mark)
  end
end

---@param todos odin.Todo[]
function Transcript:show_todos(todos)
  local lines = vim.tbl_map(function(todo)
    local closing = todo.status == "in_progress" and "**" or ""
    return (TODO[todo.status] .. todo.content .. closing):gsub("\n", " ")
  end, todos)
  local row = self.todos and self:row(self.todos.mark)
  if row then
    self:replace(row, self.todos.count, lines)
  else
    row = self:append(lines)
  end
  self.todos = { mark = self:mark(row), count = #lines }
end

function Transcript:finish_turn()
  self:finish_message()
  self.tools, self.todos = {}, nil
end

---What waits for its turn, below the last line.
---@param texts string[]
function Transcript:show_queue(texts)
  vim.api.nvim_buf_clear_namespace(self.bufnr, QUEUE, 0, -1)
  self.queue = texts
  if #texts > 0 then
    local lines = vim.tbl_map(function(text)
      return { { "queued: " .. text:gsub("\n", " "), "Comment" } }
    end, texts)
    local last = vim.api.nvim_buf_line_count(self.bufnr) - 1
    vim.api.nvim_buf_set_extmark(self.bufnr, QUEUE, last, 0, { virt_lines = lines })
  end
end

---Fold expression: thinking is folded.
---@param row integer
---@return string
function Transcript.fold(row)
  return vim.startswith(vim.fn.getline(row), THINKING) and "1" or "0"
end

---@return string
function Transcript.fold_text()
  local count = vim.v.foldend - vim.v.foldstart + 1
  return ("%sthinking, %s"):format(THINKING, require("odin.words").count(count, "line"))
end

---@private
function Transcript.tool_line(status, label)
  return ("- %s %s"):format(TOOL[status], (label:gsub("\n", " ")))
end

---Add lines at the end, after an empty one unless they follow directly.
---@private
---@param lines string[]
---@param follows? boolean
---@return integer row
function Transcript:put(lines, follows)
  self.last_was_tool = false
  local count = vim.api.nvim_buf_line_count(self.bufnr)
  local is_empty = count == 1 and vim.api.nvim_buf_get_lines(self.bufnr, 0, 1, true)[1] == ""
  self:change(function()
    if is_empty then
      vim.api.nvim_buf_set_lines(self.bufnr, 0, -1, false, lines)
    else
      local more = follows and lines or vim.list_extend({ "" }, lines)
      vim.api.nvim_buf_set_lines(self.bufnr, -1, -1, false, more)
    end
  end)
  return vim.api.nvim_buf_line_count(self.bufnr) - #lines
end

---@private
function Transcript:replace(row, count, lines)
  self:change(function()
    vim.api.nvim_buf_set_lines(self.bufnr, row, row + count, false, lines)
  end)
end

---Change the buffer. Windows that show its end keep showing it, except the one that the user is in.
---@private
---@param edit fun()
function Transcript:change(edit)
  local last = vim.api.nvim_buf_line_count(self.bufnr)
  local following = vim.tbl_filter(function(window)
    return window ~= vim.api.nvim_get_current_win() and vim.api.nvim_win_get_cursor(window)[1] >= last
  end, vim.fn.win_findbuf(self.bufnr))
  vim.bo[self.bufnr].modifiable = true
  edit()
  vim.bo[self.bufnr].modifiable = false
  local now = vim.api.nvim_buf_line_count(self.bufnr)
  for _, window in ipairs(following) do
    vim.api.nvim_win_set_cursor(window, { now, 0 })
  end
  if self.queue and #self.queue > 0 then
    self:show_queue(self.queue)
  end
end

---@private
---@param row integer
---@return integer
function Transcript:mark(row)
  return vim.api.nvim_buf_set_extmark(self.bufnr, MARKS, row, 0, {})
end

---@private
---@param mark integer
---@return integer?
function Transcript:row(mark)
  return vim.api.nvim_buf_get_extmark_by_id(self.bufnr, MARKS, mark, {})[1]
end

return Transcript
