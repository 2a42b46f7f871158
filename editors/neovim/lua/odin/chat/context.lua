-- What goes with a message: the selection, diagnostics, and what the text mentions by `@` and `#`.

local M = {}

local SEVERITY = { "error", "warning", "info", "hint" }
local OWN = "Odin"
---@type integer? The file that the user was in last: what `#selection` and `#diagnostics` are about.
local last_file

---Keep in mind in which file the user was.
function M.follow()
  vim.api.nvim_create_autocmd("BufEnter", {
    group = vim.api.nvim_create_augroup("odin.context", {}),
    callback = function(event)
      if vim.bo[event.buf].buftype == "" then
        last_file = event.buf
      end
    end,
  })
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

---What the text mentions: `@path`, `#selection`, `#diagnostics`.
---@param text string
---@param root string
---@return odin.ContextItem[]
function M.mentioned(text, root)
  local items = {}
  for path in (" " .. text):gmatch("%s@(%S+)") do
    local full = vim.fs.joinpath(root, (path:gsub("[,.;:!?]+$", "")))
    local stat = vim.uv.fs_stat(full)
    if stat and stat.type == "file" then
      table.insert(items, { kind = "file", uri = vim.uri_from_fname(full) })
    end
  end
  local bufnr = vim.bo.buftype == "" and vim.api.nvim_get_current_buf() or last_file
  if not bufnr or not vim.api.nvim_buf_is_loaded(bufnr) then
    return items
  end
  if (" " .. text):find("%s#selection") then
    local first, last = vim.api.nvim_buf_get_mark(bufnr, "<")[1], vim.api.nvim_buf_get_mark(bufnr, ">")[1]
    if first > 0 and last > 0 then
      table.insert(items, M.of_range(bufnr, first, last)[1])
    end
  end
  if (" " .. text):find("%s#diagnostics") then
    table.insert(items, M.diagnostics(bufnr, 0, vim.api.nvim_buf_line_count(bufnr)))
  end
  return items
end

---Completion in the prompt, for 'omnifunc' and 'completefunc': `#` by ourselves, all else by the server.
---@param findstart integer
---@param base string
function M.complete(findstart, base)
  local before = vim.api.nvim_get_current_line():sub(1, vim.fn.col(".") - 1)
  local start = before:match("()#%S*$")
  if not start and not base:find("^#") then
    return vim.lsp.omnifunc(findstart, base)
  end
  return findstart == 1 and start - 1 or M.own_mentions(base)
end

---What a word on the command line may become.
---@param base string With the sign that it begins with.
---@param root string
---@return string[]
function M.mentions(base, root)
  if vim.startswith(base, "#") then
    return M.own_mentions(base)
  end
  local path = vim.fs.joinpath(root, base:sub(2))
  return vim.tbl_map(function(found)
    return "@" .. found:sub(#root + 2)
  end, vim.fn.getcompletion(vim.fn.fnameescape(path), "file"))
end

---@private
---@param base string
---@return string[]
function M.own_mentions(base)
  return vim.tbl_filter(function(it)
    return vim.startswith(it, base)
  end, { "#selection", "#diagnostics" })
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
