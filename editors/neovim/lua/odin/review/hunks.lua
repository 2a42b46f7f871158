-- A hunk among the lines around it: where it stands, the whole lines that would go and come, and a line to know it by.

local compat = require("odin.client.compat")
local display = require("odin.display")
local files = require("odin.client.files")
local words = require("odin.words")

local M = {}

local SIDE_WIDTH = 60
---How much is shown before what differs in a long line.
local LEAD = 20

---@class odin.Text
---@field count integer
---@field line fun(row: integer): string

---@class odin.Span
---@field start_row integer
---@field start_col integer
---@field end_row integer
---@field end_col integer
---@field first integer First and last line that the hunk touches.
---@field last integer
---@field head string What stands before the hunk in its first line, and behind it in its last.
---@field tail string
---@field old string[] Whole lines: as they were, and as they would be.
---@field new string[]
---@field put string[] What of them is new.
---@field is_whole boolean Whole lines come and go.
---@field is_empty boolean Nothing stands there: whole lines would come between two others, or have gone.
---@field is_above boolean They would come above the first line.
---@field is_ended boolean Both sides have a line end that is not in their lines.

---Whether its new text is in the document.
---@param hunk odin.ReviewHunk
---@return boolean
function M.is_in(hunk)
  return hunk.state == "accepted" or hunk.state == "modified"
end

---@param hunk odin.ReviewHunk
---@return boolean
function M.is_pending(hunk)
  return (hunk.state or "pending") == "pending"
end

---The document that a hunk is in: its buffer, or else its file.
---@param it odin.OpenHunk
---@return odin.Text
function M.text(it)
  local bufnr = it.bufnr
  if bufnr then
    return {
      count = vim.api.nvim_buf_line_count(bufnr),
      line = function(row)
        return vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
      end,
    }
  end
  local ok, lines = pcall(vim.fn.readfile, vim.uri_to_fname(it.file.uri))
  lines = ok and #lines > 0 and lines or { "" }
  return {
    count = #lines,
    line = function(row)
      return (lines[row + 1] or ""):gsub("\r$", "")
    end,
  }
end

---@param it odin.OpenHunk
---@param text? odin.Text
---@return odin.Span
function M.span(it, text)
  text = text or M.text(it)
  local range = it.hunk.range
  local old, new = it.hunk.oldText:gsub("\r\n", "\n"), (it.hunk.text or it.hunk.newText):gsub("\r\n", "\n")
  local function place(position)
    local row = math.min(position.line, text.count - 1)
    local line = text.line(row)
    if position.line > row then
      return row, #line
    end
    return row, compat.byte(line, position.character, it.review.encoding)
  end
  local function is_lines(side)
    return side == "" or side:sub(-1) == "\n"
  end
  local start_row, start_col = place(range.start)
  local end_row, end_col = place(range["end"])
  local is_past = range.start.line >= text.count
  local span = { is_whole = is_lines(old) and is_lines(new) and (range.start.character == 0 or is_past) }
  span.is_empty = span.is_whole and (M.is_in(it.hunk) and new or old) == ""
  span.is_above = span.is_empty and range.start.line == 0
  span.is_ended = not span.is_whole and end_col == 0 and old:sub(-1) == "\n" and new:sub(-1) == "\n"
  if span.is_whole then
    old, new, span.head, span.tail = old:sub(1, -2), new:sub(1, -2), "", ""
    span.first = span.is_empty and not span.is_above and not is_past and start_row - 1 or start_row
    span.last = span.is_empty and span.first or (end_col == 0 and end_row > start_row) and end_row - 1 or end_row
  else
    if span.is_ended then
      old, new, end_row = old:sub(1, -2), new:sub(1, -2), end_row - 1
      end_col = #text.line(end_row)
    end
    span.head, span.tail = text.line(start_row):sub(1, start_col), text.line(end_row):sub(end_col + 1)
    span.first, span.last = start_row, end_row
  end
  span.start_row, span.start_col, span.end_row, span.end_col = start_row, start_col, end_row, end_col
  local function lines(side, given)
    return span.is_whole and given == "" and {} or words.lines(side)
  end
  span.old = lines(span.head .. old .. span.tail, it.hunk.oldText)
  span.new = lines(span.head .. new .. span.tail, it.hunk.text or it.hunk.newText)
  span.put = lines(new, it.hunk.text or it.hunk.newText)
  return span
end

---The change itself, in a line.
---@param it odin.OpenHunk
---@param text? odin.Text
---@return string
function M.label(it, text)
  local operation = it.file.operation
  if operation == "create" then
    local lines = words.lines((it.hunk.newText:gsub("\n$", "")))
    return ("create: %s  + %s"):format(words.count(#lines, "line"), M.shown(lines, 0))
  elseif operation == "rename" then
    return "rename: to " .. files.shown(it.file.newUri or "", it.review.root)
  elseif operation == "delete" then
    return "delete: the whole " .. (files.is_folder(it.file.uri) and "folder" or "file")
  end
  local span = M.span(it, text)
  local sides = {}
  for _, side in ipairs({ { "- ", span.old }, { "+ ", span.new } }) do
    if #side[2] > 0 then
      table.insert(sides, side[1] .. M.shown(side[2], #span.head))
    end
  end
  local more = math.max(#span.old, #span.new) > 1
  return table.concat(sides, " → ") .. (more and ("  (−%d +%d)"):format(#span.old, #span.new) or "")
end

---The first line that is not blank; of a long one the part around what differs.
---@private
---@param lines string[]
---@param differs integer Bytes of the first line that come before it.
---@return string
function M.shown(lines, differs)
  for row, line in ipairs(lines) do
    local indent, rest = line:match("^(%s*)(.*)$")
    if rest ~= "" then
      local before = display.flat(line:sub(#indent + 1, differs))
      rest = display.flat(rest)
      local lead = row == 1 and vim.fn.strchars(before) - LEAD or 0
      local is_cut = lead > 0 and vim.fn.strchars(rest) > SIDE_WIDTH
      return words.cut(is_cut and "…" .. vim.fn.strcharpart(rest, lead) or vim.trim(rest), SIDE_WIDTH)
    end
  end
  return words.count(#lines, "empty line")
end

return M
