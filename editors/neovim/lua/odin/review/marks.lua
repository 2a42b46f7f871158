-- Hunks drawn over a buffer: what would go is highlighted where it stands, what would come is shown below it. What was
-- decided has a sign.

local display = require("odin.display")
local files = require("odin.client.files")
local hunks = require("odin.review.hunks")
local screen = require("odin.screen")

local M = {}

local DRAWN = vim.api.nvim_create_namespace("odin.review")
---@class odin.Place
---@field hunk odin.ReviewHunk As it was drawn.
---@field is_bare boolean
---@field marks integer[] All that were drawn for it; the last one covers its lines.
---@field reach "lines"|"next"|"file" Which lines are the hunk's as well, where no other stands.
---@field fill integer Virtual lines above the first line.

---@type table<integer, table<string, odin.Place>> By buffer and hunk.
local places = {}

M.HIGHLIGHTS = {
  OdinAdd = { link = "DiffAdd", desc = "lines to be added" },
  OdinAddText = { link = "DiffText", desc = "added text in a changed line" },
  OdinDelete = { link = "DiffDelete", desc = "lines to be removed" },
  OdinDeleteText = { link = "DiffText", desc = "removed text in a changed line" },
  OdinReason = { link = "Comment", desc = "the reason for a change" },
  OdinAccepted = { link = "NonText", desc = "an accepted change" },
  OdinRejected = { link = "NonText", desc = "a rejected change" },
}

---Define what the user's colours do not.
function M.define_highlights()
  for name, highlight in pairs(M.HIGHLIGHTS) do
    vim.api.nvim_set_hl(0, name, { link = highlight.link, default = true })
  end
end

---Draw a buffer's hunks. Those that are drawn already have moved along with what was typed since, of which the server
---may not know yet.
---@param bufnr integer
---@param shown odin.OpenHunk[]
---@param is_bare boolean Only where they are: something else shows what they are.
function M.draw(bufnr, shown, is_bare)
  local drawn, kept = places[bufnr] or {}, {}
  for _, it in ipairs(shown) do
    local place = drawn[it.hunk.id]
    kept[it.hunk.id] = place and place.hunk == it.hunk and place.is_bare == is_bare and place or nil
  end
  for id, place in pairs(drawn) do
    for _, mark in ipairs(kept[id] and {} or place.marks) do
      vim.api.nvim_buf_del_extmark(bufnr, DRAWN, mark)
    end
  end
  places[bufnr] = kept
  for _, it in ipairs(shown) do
    if not kept[it.hunk.id] then
      kept[it.hunk.id] = { hunk = it.hunk, is_bare = is_bare, marks = {}, reach = "lines", fill = 0 }
      M.draw_one(bufnr, it, kept[it.hunk.id])
    end
  end
end

---The buffer has been read again, and nothing is drawn any more.
---@param bufnr integer
function M.forget(bufnr)
  vim.api.nvim_buf_clear_namespace(bufnr, DRAWN, 0, -1)
  places[bufnr] = nil
end

---@return integer[] buffers That have hunks drawn over them.
function M.buffers()
  return vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.tbl_keys(places))
end

---@param bufnr integer
---@param hunk string
---@return integer? row
function M.row(bufnr, hunk)
  local place = (places[bufnr] or {})[hunk]
  return place and vim.api.nvim_buf_get_extmark_by_id(bufnr, DRAWN, place.marks[#place.marks], {})[1]
end

---How well lines name a hunk: it stands in them, it is beside them, or not at all.
---@param bufnr integer
---@param hunk string
---@param first integer
---@param last integer
---@return "in"|"beside"|nil
function M.touches(bufnr, hunk, first, last)
  local place = (places[bufnr] or {})[hunk]
  if not place then
    return nil
  end
  local mark = place.marks[#place.marks]
  local row, _, details = unpack(vim.api.nvim_buf_get_extmark_by_id(bufnr, DRAWN, mark, { details = true }))
  if not row then
    return nil
  end
  local last_row = math.max(row, details.end_row or row)
  if row <= last and last_row >= first then
    return "in"
  end
  local is_beside = place.reach == "file" or (place.reach == "next" and first == last_row + 1)
  return is_beside and "beside" or nil
end

---Go to a hunk in the current window, which shows its buffer.
---@param it odin.OpenHunk
function M.go_to(it)
  local bufnr = vim.api.nvim_get_current_buf()
  local place = (places[bufnr] or {})[it.hunk.id]
  local row = M.row(bufnr, it.hunk.id) or it.hunk.range.start.line
  vim.api.nvim_win_set_cursor(0, { math.min(row + 1, vim.api.nvim_buf_line_count(bufnr)), 0 })
  if place and place.fill > 0 then
    vim.fn.winrestview({ topline = 1, topfill = place.fill })
  end
end

---@private
---@param bufnr integer
---@param it odin.OpenHunk
---@param place odin.Place
function M.draw_one(bufnr, it, place)
  local span = it.file.operation == "edit" and hunks.span(it) or { first = 0, last = 0 }
  local function put(row, column, mark)
    mark.strict = false
    table.insert(place.marks, screen.mark(bufnr, DRAWN, row, column, mark))
  end
  local cover = { end_row = span.last, end_col = 0 }
  if it.file.operation ~= "edit" then
    place.reach = "file"
  elseif span.is_empty and not span.is_above then
    place.reach = "next"
  end
  if not hunks.is_pending(it.hunk) then
    M.sign(cover, it.hunk)
  elseif not place.is_bare then
    cover.virt_text = { { " " .. display.line(M.summary(it)), "OdinReason" } }
    if it.file.operation == "edit" then
      M.draw_change(span, cover, put)
    else
      local highlight = ({ create = "OdinAdd", delete = "OdinDelete" })[it.file.operation]
      put(0, 0, { end_row = vim.api.nvim_buf_line_count(bufnr), hl_group = highlight, hl_eol = true })
    end
  end
  place.fill = cover.virt_lines_above and #cover.virt_lines or 0
  put(span.first, 0, cover)
end

---@private
---@param span odin.Span
---@param cover table<string, any>
---@param put fun(row: integer, column: integer, mark: table<string, any>)
function M.draw_change(span, cover, put)
  local added = M.added(span)
  if span.is_empty then
    cover.virt_lines, cover.virt_lines_above = added, span.is_above
    return
  end
  for row = span.first, span.last do
    put(row, 0, { line_hl_group = "OdinDelete" })
  end
  if not span.is_whole then
    local removed = { end_row = span.end_row, end_col = span.end_col, hl_group = "OdinDeleteText", priority = 4097 }
    put(span.start_row, span.start_col, removed)
  end
  put(span.last, 0, { virt_lines = added })
end

---How a decided hunk looks.
---@private
---@param cover table<string, any>
---@param hunk odin.ReviewHunk
function M.sign(cover, hunk)
  if hunks.is_in(hunk) then
    cover.sign_text, cover.sign_hl_group = "✓", "OdinAccepted"
    cover.virt_text = { { " " .. hunk.state, "OdinAccepted" } }
  elseif hunk.state == "rejected" then
    cover.sign_text, cover.sign_hl_group = "✗", "OdinRejected"
  end
end

---The new lines, with what differs in them marked.
---@private
---@param span odin.Span
---@return [string, string][][]
function M.added(span)
  local lines = vim.tbl_map(function(line)
    return { { M.visible(line), span.is_whole and "OdinAdd" or "OdinAddText" } }
  end, span.put)
  if not span.is_whole then
    table.insert(lines[1], 1, { M.visible(span.head), "OdinAdd" })
    table.insert(lines[#lines], { M.visible(span.tail), "OdinAdd" })
  end
  return lines
end

---@private
function M.summary(it)
  local to = it.file.newUri and files.shown(it.file.newUri, it.review.root) or ""
  local words = { create = "new file", delete = "delete it", rename = "rename to " .. to }
  local parts = vim.tbl_filter(function(part)
    return part ~= nil and part ~= ""
  end, { words[it.file.operation] or "", it.hunk.reason, it.file.note or "" })
  return "Odin: " .. table.concat(parts, "; ")
end

---Virtual lines know no tabs. The user decides on what they see there.
---@private
function M.visible(line)
  return (display.exact(line):gsub("\t", (" "):rep(vim.o.tabstop)))
end

return M
