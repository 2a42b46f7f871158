-- Hunks drawn over a buffer: what would go is highlighted where it stands, what would come is shown below it.

local M = {}

local DRAWN = vim.api.nvim_create_namespace("odin.review")
---@type table<string, integer> Marks that cover a hunk's lines, by hunk.
local places = {}

M.HIGHLIGHTS = {
  OdinAdd = { link = "DiffAdd", desc = "lines that would be added" },
  OdinAddText = { link = "DiffText", desc = "what differs in them" },
  OdinDelete = { link = "DiffDelete", desc = "lines that would go" },
  OdinDeleteText = { link = "DiffText", desc = "what would go of them" },
  OdinReason = { link = "Comment", desc = "why" },
}

---Define what the user's colours do not.
function M.define_highlights()
  for name, highlight in pairs(M.HIGHLIGHTS) do
    vim.api.nvim_set_hl(0, name, { link = highlight.link, default = true })
  end
end

---@param pending odin.PendingHunk[]
function M.draw(pending)
  M.define_highlights()
  places = {}
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      vim.api.nvim_buf_clear_namespace(bufnr, DRAWN, 0, -1)
    end
  end
  for _, it in ipairs(pending) do
    if it.bufnr then
      M.draw_hunk(it)
    end
  end
end

---@param bufnr integer
---@param hunk string
---@return integer? row
function M.row(bufnr, hunk)
  local mark = places[hunk]
  return mark and vim.api.nvim_buf_get_extmark_by_id(bufnr, DRAWN, mark, {})[1]
end

---@param bufnr integer
---@param hunk string
---@param first integer
---@param last integer
---@return boolean
function M.touches(bufnr, hunk, first, last)
  local mark = places[hunk]
  local place = mark and vim.api.nvim_buf_get_extmark_by_id(bufnr, DRAWN, mark, { details = true }) or {}
  local row, _, details = unpack(place)
  return row ~= nil and row <= last and math.max(row, details.end_row or row) >= first
end

---@private
---@param it odin.PendingHunk
function M.draw_hunk(it)
  local bufnr, hunk = it.bufnr, it.hunk
  local span = M.span(it)
  local reason = { { " " .. M.summary(it), "OdinReason" } }
  local cover = { end_row = span.last, end_col = 0, virt_text = reason, strict = false }
  if it.file.operation ~= "edit" then
    places[hunk.id] = vim.api.nvim_buf_set_extmark(bufnr, DRAWN, 0, 0, { virt_text = reason })
    return
  end
  local added = M.added(bufnr, it, span)
  if span.is_insertion then
    cover.virt_lines, cover.virt_lines_above = added, span.above
  else
    local removed = { end_row = span.end_row, end_col = span.end_col, hl_group = "OdinDeleteText", strict = false }
    removed.priority = 4097
    for row = span.first, span.last do
      vim.api.nvim_buf_set_extmark(bufnr, DRAWN, row, 0, { line_hl_group = "OdinDelete", strict = false })
    end
    if not span.is_whole then
      vim.api.nvim_buf_set_extmark(bufnr, DRAWN, span.start_row, span.start_col, removed)
    end
    vim.api.nvim_buf_set_extmark(bufnr, DRAWN, span.last, 0, { virt_lines = added, strict = false })
  end
  places[hunk.id] = vim.api.nvim_buf_set_extmark(bufnr, DRAWN, span.first, 0, cover)
end

---@private
---@class odin.Span
---@field start_row integer
---@field start_col integer
---@field end_row integer
---@field end_col integer
---@field first integer First and last line that the hunk touches.
---@field last integer
---@field is_whole boolean Whole lines come and go.
---@field is_insertion boolean Nothing goes.
---@field above boolean An insertion is shown above its line.

---@private
---@param it odin.PendingHunk
---@return odin.Span
function M.span(it)
  local bufnr, range = it.bufnr, it.hunk.range
  local count = vim.api.nvim_buf_line_count(bufnr)
  local function place(position)
    local row = math.min(position.line, count - 1)
    local line = vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
    if position.line > row then
      return row, #line
    end
    return row, M.byte(line, position.character, it.review.encoding)
  end
  local start_row, start_col = place(range.start)
  local end_row, end_col = place(range["end"])
  local old, new = it.hunk.oldText, it.hunk.newText
  local function is_lines(text)
    return text == "" or text:sub(-1) == "\n"
  end
  local whole = is_lines(old) and is_lines(new) and (range.start.character == 0 or range.start.line >= count)
  local insertion = whole and old == ""
  local above = insertion and start_row == 0 and range.start.line == 0
  local first = insertion and not above and range.start.line < count and start_row - 1 or start_row
  local last = (whole and old ~= "" and end_col == 0 and end_row > start_row) and end_row - 1 or end_row
  return {
    start_row = start_row,
    start_col = start_col,
    end_row = end_row,
    end_col = end_col,
    first = first,
    last = insertion and first or last,
    is_whole = whole,
    is_insertion = insertion,
    above = above,
  }
end

---The new lines, with what differs in them marked.
---@private
---@param bufnr integer
---@param it odin.PendingHunk
---@param span odin.Span
---@return [string, string][][]
function M.added(bufnr, it, span)
  local new = it.hunk.newText
  if span.is_whole then
    local lines = new == "" and {} or vim.split(new:sub(1, -2), "\n", { plain = true })
    return vim.tbl_map(function(line)
      return { { M.visible(line), "OdinAdd" } }
    end, lines)
  end
  local head = vim.api.nvim_buf_get_text(bufnr, span.start_row, 0, span.start_row, span.start_col, {})[1]
  local tail = vim.api.nvim_buf_get_text(bufnr, span.end_row, span.end_col, span.end_row, -1, {})[1]
  local lines = vim.tbl_map(function(line)
    return { { M.visible(line), "OdinAddText" } }
  end, vim.split(new, "\n", { plain = true }))
  table.insert(lines[1], 1, { M.visible(head), "OdinAdd" })
  table.insert(lines[#lines], { M.visible(tail), "OdinAdd" })
  return lines
end

---@private
function M.summary(it)
  local words = { delete = "delete this file", rename = "rename this file to " .. (it.file.newUri or "") }
  local parts = vim.tbl_filter(function(part)
    return part ~= nil and part ~= ""
  end, { words[it.file.operation] or "", it.hunk.reason, it.file.note or "" })
  return "Odin: " .. (table.concat(parts, "; "):gsub("\n", " "))
end

---Virtual lines know no tabs.
---@private
function M.visible(line)
  return (line:gsub("\t", (" "):rep(vim.o.tabstop)))
end

---@private
---@param line string
---@param character integer
---@param encoding string
---@return integer
function M.byte(line, character, encoding)
  if encoding == "utf-8" then
    return math.min(character, #line)
  end
  local ok, column
  if vim.fn.has("nvim-0.11") == 1 then
    ok, column = pcall(vim.str_byteindex, line, encoding, character, false)
  else
    ok, column = pcall(vim.str_byteindex, line, character, encoding == "utf-16")
  end
  return ok and column or #line
end

return M
