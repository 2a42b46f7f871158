-- A hunk that the user changes before it is accepted: its whole lines in a float, turned into the hunk's text again.

local hunks = require("odin.review.hunks")
local screen = require("odin.screen")

local M = {}

local OWN = vim.api.nvim_create_namespace("odin.amend")

---Let the user write what takes the place of a hunk; writing the buffer accepts it so.
---@param it odin.OpenHunk
function M.open(it)
  local span = hunks.span(it)
  require("odin.float").write({
    name = "odin://hunk/" .. it.hunk.id,
    lines = span.new,
    title = ":w accepts this text, :q! keeps the change pending",
    filetype = it.bufnr and vim.bo[it.bufnr].filetype,
    root = it.review.root,
  }, { relative = "cursor", row = 1, col = 0 }, function(lines)
    M.accept(it, span, lines)
  end)
end

---@private
---@param it odin.OpenHunk
---@param span odin.Span
---@param lines string[]
function M.accept(it, span, lines)
  if vim.deep_equal(lines, #span.new > 0 and span.new or { "" }) then
    require("odin.review").accept({ it })
    return
  end
  local text, tidy
  if span.is_whole then
    text = #lines == 1 and lines[1] == "" and "" or table.concat(lines, "\n") .. "\n"
  else
    local head, tail = M.kept(table.concat(lines, "\n"), span)
    text = table.concat(lines, "\n"):sub(head + 1, -tail - 1) .. (span.is_ended and "\n" or "")
    tidy = M.tidied(it, span, head, tail)
  end
  if (it.hunk.oldText .. it.hunk.newText):find("\r\n", 1, true) then
    text = text:gsub("\n", "\r\n")
  end
  require("odin.review").accept({ it }, { [it.hunk.id] = text }, tidy)
end

---How much of what stands around the hunk the user has left as it is, in bytes from the beginning and from the end.
---@private
---@param text string
---@param span odin.Span
---@return integer head
---@return integer tail
function M.kept(text, span)
  local head, tail = 0, 0
  while head < #span.head and text:byte(head + 1) == span.head:byte(head + 1) do
    head = head + 1
  end
  while tail < math.min(#span.tail, #text - head) and text:byte(-tail - 1) == span.tail:byte(-tail - 1) do
    tail = tail + 1
  end
  while head > 0 and head < #text and vim.str_utf_start(text, head + 1) ~= 0 do
    head = head - 1
  end
  while tail > 0 and vim.str_utf_start(text, #text - tail + 1) ~= 0 do
    tail = tail - 1
  end
  return head, tail
end

---What the user has taken away around the hunk is an edit of their own: how to do it once the hunk is in its place.
---@private
---@param it odin.OpenHunk
---@param span odin.Span
---@param head integer
---@param tail integer
---@return fun()?
function M.tidied(it, span, head, tail)
  if head == #span.head and tail == #span.tail then
    return nil
  end
  local function mark(row, from, to, is_behind)
    local cover = { end_row = row, end_col = to, right_gravity = is_behind, end_right_gravity = is_behind }
    return screen.mark(it.bufnr, OWN, row, from, cover)
  end
  local behind = mark(span.end_row, span.end_col, span.end_col + #span.tail - tail, true)
  local before = mark(span.start_row, head, span.start_col, false)
  return function()
    for _, id in ipairs({ behind, before }) do
      local row, column, details = unpack(vim.api.nvim_buf_get_extmark_by_id(it.bufnr, OWN, id, { details = true }))
      screen.remove(it.bufnr, row, column, details.end_row, details.end_col)
      vim.api.nvim_buf_del_extmark(it.bufnr, OWN, id)
    end
  end
end

return M
