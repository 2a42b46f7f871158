-- What goes with a message: what is selected, and the diagnostics in it.

local M = {}

local SEVERITY = { "error", "warning", "info", "hint" }
local OWN = "Odin"
---@type integer? The file that the user was in last: what `@selection` is about.
local last_file

---Keep in mind in which file the user was.
function M.entered(event)
  if vim.bo[event.buf].buftype == "" then
    last_file = event.buf
  end
end

---Lines that a command was given, or what of them was selected, and the diagnostics in them.
---@param bufnr integer
---@param first integer
---@param last integer
---@return odin.ContextItem[]
function M.of_range(bufnr, first, last)
  local span = M.selected(bufnr, first, last)
  local uri = M.uri(bufnr)
  local encoding = M.encoding(bufnr)
  local range = {
    start = M.position(bufnr, span.start_row, span.start_col, encoding),
    ["end"] = M.position(bufnr, span.end_row, span.end_col, encoding),
  }
  local lines = vim.api.nvim_buf_get_text(bufnr, span.start_row, span.start_col, span.end_row, span.end_col, {})
  local selection = { kind = "selection", content = table.concat(lines, "\n"), uri = uri, range = range }
  local problems = M.diagnostics(bufnr, span.start_row, span.end_row)
  return problems and { selection, problems } or { selection }
end

---What the text mentions that only Neovim knows: `@selection`, or `#selection`. All else the server finds.
---@param text string
---@return odin.ContextItem[]
function M.mentioned(text)
  local bufnr = vim.bo.buftype == "" and vim.api.nvim_get_current_buf() or last_file
  if not (" " .. text):find("%s[@#]selection%f[%W]") or not bufnr or not vim.api.nvim_buf_is_loaded(bufnr) then
    return {}
  end
  local first, last = vim.api.nvim_buf_get_mark(bufnr, "<")[1], vim.api.nvim_buf_get_mark(bufnr, ">")[1]
  return first > 0 and last > 0 and { M.of_range(bufnr, first, last)[1] } or {}
end

---What a word on the command line can become.
---@param base string With the `@` that it begins with.
---@param root string
---@return string[]
function M.mentions(base, root)
  local found = vim.tbl_filter(function(it)
    return vim.startswith(it, base)
  end, { "@selection", "@problems" })
  local path = vim.fs.joinpath(root, base:sub(2))
  for _, it in ipairs(vim.fn.getcompletion(vim.fn.fnameescape(path), "file")) do
    table.insert(found, "@" .. it:sub(#root + 2))
  end
  return found
end

---@private
---@return { start_row: integer, start_col: integer, end_row: integer, end_col: integer }
function M.selected(bufnr, first, last)
  local from, to = vim.api.nvim_buf_get_mark(bufnr, "<"), vim.api.nvim_buf_get_mark(bufnr, ">")
  local end_line = vim.api.nvim_buf_get_lines(bufnr, last - 1, last, true)[1]
  if from[1] ~= first or to[1] ~= last or vim.fn.visualmode() ~= "v" then
    return { start_row = first - 1, start_col = 0, end_row = last - 1, end_col = #end_line }
  end
  local column = math.min(to[2], #end_line)
  local after = column < #end_line and column + #vim.fn.strcharpart(end_line:sub(column + 1), 0, 1) or #end_line
  return { start_row = first - 1, start_col = from[2], end_row = last - 1, end_col = after }
end

---@private
---@return odin.ContextItem?
function M.diagnostics(bufnr, first, last)
  local lines = {}
  for _, it in ipairs(vim.diagnostic.get(bufnr)) do
    if it.source ~= OWN and it.lnum <= last and (it.end_lnum or it.lnum) >= first then
      local about = { ("line %d"):format(it.lnum + 1), SEVERITY[it.severity], it.message }
      table.insert(lines, table.concat(about, ": "))
    end
  end
  return #lines > 0 and { kind = "diagnostics", content = table.concat(lines, "\n"), uri = M.uri(bufnr) } or nil
end

---@private
---@return string? uri None for a buffer without a file.
function M.uri(bufnr)
  return vim.api.nvim_buf_get_name(bufnr) ~= "" and vim.uri_from_bufnr(bufnr) or nil
end

---@private
function M.encoding(bufnr)
  local client = require("odin.client.life").clients(require("odin.client.roots").of(bufnr))[1]
  return client and client.offset_encoding or "utf-16"
end

---@private
function M.position(bufnr, row, column, encoding)
  local line = vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
  return { line = row, character = vim.lsp.util.character_offset(bufnr, row, math.min(column, #line), encoding) }
end

return M
