-- The chat's text: a Markdown buffer of blocks with an empty line between them. One that is known by its key is renewed
-- in place.

local screen = require("odin.screen")

---@class odin.Block
---@field key? string
---@field count integer Lines.
---@field gap integer Empty lines before them.
---@field is_item boolean An item of a list: these stand together.

---@class odin.Transcript
---@field bufnr integer
---@field private blocks odin.Block[]
---@field private place? integer Where new blocks go; without it, to the end.
---@field private streaming? "text"|"thinking" What was streamed last.
---@field private progress table<string, integer> Marks by block.
---@field private queue? string[]
local Transcript = {}
Transcript.__index = Transcript

local PROGRESS = vim.api.nvim_create_namespace("odin.progress")
local QUEUE = vim.api.nvim_create_namespace("odin.queue")
local STREAM = "stream"
---What is folded, by how its lines begin.
local FOLDED = { thinking = "┊ ", output = "  │ " }
---Who thinks for less has hardly been waited for.
local LONG_MS = 1000
local INDENTED = vim.tbl_extend("error", FOLDED, { shown = "    " })

---@param bufnr integer
---@return odin.Transcript
function Transcript.new(bufnr)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].undolevels = -1
  return setmetatable({ bufnr = bufnr, blocks = {}, progress = {} }, Transcript)
end

---Show lines as the block of this key, or as one of their own.
---@param key string?
---@param lines string[]
---@param is_item? boolean
function Transcript:put(key, lines, is_item)
  local block = { key = key, count = #lines, is_item = is_item or false }
  local index = self:index(key)
  if index and index >= (self.place or math.huge) then
    return -- what is there already is newer
  elseif index then
    self:splice(index, 1, block, lines)
    return
  end
  index = self.place or #self.blocks + 1
  self.place = self.place and index + 1
  self:splice(index, 0, block, lines)
end

---@param key string
function Transcript:remove(key)
  local index = self:index(key)
  if index then
    self:splice(index, 1)
  end
end

---What is put meanwhile comes above all that is there, but below the block of this key.
---@param key string
---@param run fun()
function Transcript:above(key, run)
  self.place = (self:index(key) or 0) + 1
  run()
  self.place = nil
end

function Transcript:clear()
  self.blocks, self.progress = {}, {}
  vim.api.nvim_buf_clear_namespace(self.bufnr, PROGRESS, 0, -1)
  self:change(function()
    screen.put(self.bufnr, 0, -1, {})
  end)
end

---More of the message that is being said.
---@param kind "text"|"thinking"
---@param text string
function Transcript:stream(kind, text)
  local index = self:index(STREAM)
  local lines = Transcript.indented(kind, text)
  if not index then
    self:put(STREAM, lines)
  elseif self.streaming ~= kind then
    self:extend(index, vim.list_extend({ "", "" }, lines))
  else
    lines[1] = text:match("^[^\n]*")
    self:extend(index, lines)
  end
  self.streaming = kind
end

---The message as a whole, in place of what was streamed of it; none, if it has failed and comes again.
---@param lines string[]
function Transcript:finish_message(lines)
  local index = self:index(STREAM)
  if index and index == #self.blocks and #lines > 0 then
    self:splice(index, 1, { count = #lines, is_item = false }, lines)
    return
  end
  self:remove(STREAM)
  if #lines > 0 then
    self:put(nil, lines)
  end
end

---What goes on in a block right now, behind its first line.
---@param key string
---@param text string
function Transcript:tell_of(key, text)
  local index = self:index(key)
  if index then
    local row = self:row(index) + self.blocks[index].gap
    local said = vim.trim(text):match("[^\n]*$")
    local shown = { id = self.progress[key], virt_text = { { " " .. said, "Comment" } } }
    self.progress[key] = screen.mark(self.bufnr, PROGRESS, row, 0, shown)
  end
end

---@param key? string Without it, of all blocks.
function Transcript:forget_progress(key)
  if not key then
    vim.api.nvim_buf_clear_namespace(self.bufnr, PROGRESS, 0, -1)
    self.progress = {}
  elseif self.progress[key] then
    vim.api.nvim_buf_del_extmark(self.bufnr, PROGRESS, self.progress[key])
    self.progress[key] = nil
  end
end

---What waits for its turn, a line each, below the last line.
---@param texts string[]
function Transcript:show_queue(texts)
  vim.api.nvim_buf_clear_namespace(self.bufnr, QUEUE, 0, -1)
  self.queue = texts
  if #texts > 0 then
    local lines = vim.tbl_map(function(text)
      return { { text, "Comment" } }
    end, texts)
    local last = vim.api.nvim_buf_line_count(self.bufnr) - 1
    screen.mark(self.bufnr, QUEUE, last, 0, { virt_lines = lines })
  end
end

---Have all windows show its end.
function Transcript:show_end()
  for _, window in ipairs(vim.fn.win_findbuf(self.bufnr)) do
    vim.api.nvim_win_set_cursor(window, { vim.api.nvim_buf_line_count(self.bufnr), 0 })
  end
end

---The lines of a text, as they are written if they are of this kind.
---@param kind string
---@param text string
---@return string[]
function Transcript.indented(kind, text)
  local prefix = INDENTED[kind] or ""
  return vim.tbl_map(function(line)
    return prefix .. line
  end, require("odin.words").lines(text))
end

---The lines of what was thought; the first one says how long, if that was long.
---@param text string
---@param ms? integer
---@return string[]
function Transcript.thought(text, ms)
  local lines = Transcript.indented("thinking", text)
  if (ms or 0) >= LONG_MS then
    table.insert(lines, 1, ("%sthought for %d s"):format(FOLDED.thinking, math.floor(ms / 1000 + 0.5)))
  end
  return lines
end

---Fold expression.
---@param row integer
---@return string
function Transcript.fold(row)
  return Transcript.kind(row) and "1" or "0"
end

---@return string
function Transcript.fold_text()
  local kind = Transcript.kind(vim.v.foldstart)
  local count = vim.v.foldend - vim.v.foldstart + 1
  local thought = vim.fn.getline(vim.v.foldstart):match("^" .. FOLDED.thinking .. "(thought for %d+ s)$")
  local lines = require("odin.words").count(thought and count - 1 or count, "line")
  return ("%s%s, %s"):format(FOLDED[kind] or "", thought or kind, lines)
end

---@private
---@param row integer
---@return string?
function Transcript.kind(row)
  for kind, prefix in pairs(FOLDED) do
    if vim.startswith(vim.fn.getline(row), prefix) then
      return kind
    end
  end
end

---Put a block in place of others, or of none; the one behind it keeps its distance.
---@private
---@param index integer
---@param removed integer
---@param block? odin.Block
---@param lines? string[]
function Transcript:splice(index, removed, block, lines)
  local first, last = self:row(index), self:row(index + removed)
  local before, behind = self.blocks[index - 1], self.blocks[index + removed]
  local is_empty = #self.blocks == 0
  local new = {}
  for _ = 1, removed do
    table.remove(self.blocks, index)
  end
  if block then
    block.gap = Transcript.gap(before, block)
    vim.list_extend(new, block.gap > 0 and { "" } or {})
    vim.list_extend(new, lines or {})
    table.insert(self.blocks, index, block)
    before = block
  end
  if behind then
    last = last + behind.gap
    behind.gap = Transcript.gap(before, behind)
    vim.list_extend(new, behind.gap > 0 and { "" } or {})
  end
  self:change(function()
    screen.put(self.bufnr, first, is_empty and -1 or last, new)
  end)
end

---Write on at the end of a block.
---@private
---@param index integer
---@param lines string[] The first one goes on with its last.
function Transcript:extend(index, lines)
  local block = self.blocks[index]
  local row = self:row(index) + block.gap + block.count - 1
  block.count = block.count + #lines - 1
  self:change(function()
    screen.put_behind(self.bufnr, row, lines)
  end)
end

---@private
---@param before? odin.Block
---@param block odin.Block
---@return integer
function Transcript.gap(before, block)
  return (not before or (before.is_item and block.is_item)) and 0 or 1
end

---@private
---@param key? string
---@return integer?
function Transcript:index(key)
  for index = key and #self.blocks or 0, 1, -1 do
    if self.blocks[index].key == key then
      return index
    end
  end
end

---Where a block begins, with what is empty before it.
---@private
---@param index integer
---@return integer
function Transcript:row(index)
  local row = 0
  for number = 1, index - 1 do
    row = row + self.blocks[number].gap + self.blocks[number].count
  end
  return row
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
    if now < last then
      vim.api.nvim_win_call(window, function()
        vim.cmd("normal! zb") -- nothing empty is left below
      end)
    end
  end
  if self.queue and #self.queue > 0 then
    self:show_queue(self.queue)
  end
end

return Transcript
