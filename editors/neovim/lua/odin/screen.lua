-- Where Odin puts text before people: the only place that does. What others wrote is made fit to be shown on its way,
-- so that nobody can forget to: `odin.display` says how.

local display = require("odin.display")

local M = {}

---@param lines string[]
---@param before? string What the first of them goes on with.
---@return string[]
local function fit(lines, before)
  local shown = {}
  for number, line in ipairs(lines) do
    shown[number] = display.text((line:gsub("\r?\n", display.LINE_BREAK)), number == 1 and before or nil)
  end
  return shown
end

---@param bufnr integer
---@param first integer
---@param last integer
---@param lines string[] Each is one line, whatever is in it.
function M.put(bufnr, first, last, lines)
  vim.api.nvim_buf_set_lines(bufnr, first, last, false, fit(lines))
end

---What the user writes on, sends, or takes as it is. Neovim itself writes out what it cannot show.
---@param bufnr integer
---@param first integer
---@param last integer
---@param lines string[]
function M.put_exactly(bufnr, first, last, lines)
  vim.api.nvim_buf_set_lines(bufnr, first, last, false, lines)
end

---Write on at the end of a line.
---@param bufnr integer
---@param row integer
---@param lines string[]
function M.put_behind(bufnr, row, lines)
  local line = vim.api.nvim_buf_get_lines(bufnr, row, row + 1, true)[1]
  local before = line:match("[%z\1-\127\192-\255][\128-\191]*$")
  vim.api.nvim_buf_set_text(bufnr, row, #line, row, #line, fit(lines, before))
end

---Take away a piece of a buffer.
---@param bufnr integer
---@param first integer
---@param from integer
---@param last integer
---@param to integer
function M.remove(bufnr, first, from, last, to)
  vim.api.nvim_buf_set_text(bufnr, first, from, last, to, {})
end

---@param chunks [string, string?][]
---@return [string, string?][]
local function fit_chunks(chunks)
  return vim.tbl_map(function(chunk)
    return { display.flat(chunk[1]), chunk[2] }
  end, chunks)
end

---@param bufnr integer
---@param namespace integer
---@param row integer
---@param column integer
---@param mark vim.api.keyset.set_extmark
---@return integer id
function M.mark(bufnr, namespace, row, column, mark)
  mark.virt_text = mark.virt_text and fit_chunks(mark.virt_text)
  mark.virt_lines = mark.virt_lines and vim.tbl_map(fit_chunks, mark.virt_lines)
  return vim.api.nvim_buf_set_extmark(bufnr, namespace, row, column, mark)
end

---@param bufnr integer
---@param name string
function M.name(bufnr, name)
  vim.api.nvim_buf_set_name(bufnr, display.line(name))
end

---@param name string As it was given to `name`.
---@return integer? bufnr
function M.named(name)
  local shown = display.line(name)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(bufnr) == shown then
      return bufnr
    end
  end
end

---@param bufnr integer
---@param enter boolean
---@param place vim.api.keyset.win_config With a title.
---@return integer window
function M.float(bufnr, enter, place)
  place.title = (" %s "):format(display.line(place.title))
  return vim.api.nvim_open_win(bufnr, enter, place)
end

---@param text string
---@param level integer
function M.notify(text, level)
  vim.notify(display.text(text), level)
end

---On the message line, and in no history.
---@param text string
function M.echo(text)
  vim.api.nvim_echo({ { display.line(text) } }, false, {})
end

---@generic T
---@param items T[]
---@param about table<string, any> As `vim.ui.select` takes it, with a prompt and a line for each item.
---@param chosen fun(item?: T)
function M.select(items, about, chosen)
  local line = about.format_item
  about.prompt = display.line(about.prompt)
  function about.format_item(item)
    return display.flat(line(item))
  end
  vim.ui.select(items, about, chosen)
end

---@param prompt string
---@param typed fun(text?: string)
function M.ask(prompt, typed)
  vim.ui.input({ prompt = display.line(prompt) .. " " }, typed)
end

---@param title string
---@param items vim.quickfix.entry[]
---@param action string
function M.list(title, items, action)
  for _, it in ipairs(items) do
    it.text = display.line(it.text)
    it.module = it.module and display.line(it.module)
  end
  vim.fn.setqflist({}, action, { title = display.line(title), items = items })
end

return M
