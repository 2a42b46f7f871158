-- A file as it is beside the file as Odin would have it, in a tab of its own, by Neovim's own diff.

local files = require("odin.client.files")
local screen = require("odin.screen")
local words = require("odin.words")

local M = {}

---@type table<integer, { uri: string, bufnr?: integer }> Buffers with proposed texts.
local shown = {}

---@param file odin.ReviewFile
function M.open(file)
  local path = vim.uri_to_fname(file.uri)
  local real = file.operation ~= "create" and files.load(file.uri) or nil
  local proposed = vim.api.nvim_create_buf(false, true)
  screen.name(proposed, ("odin://proposed%s#%d"):format(path, proposed))
  vim.bo[proposed].bufhidden = "wipe"
  vim.bo[proposed].filetype = real and vim.bo[real].filetype or (vim.filetype.match({ filename = path }) or "")
  vim.b[proposed].odin_root = require("odin.client.roots").of(0)
  shown[proposed] = { uri = file.uri, bufnr = real }
  M.fill(proposed)
  require("odin.chat.window").enter_code()
  vim.cmd("tab split")
  if real then
    vim.api.nvim_win_set_buf(0, real)
  else
    vim.cmd.enew()
    vim.bo.bufhidden = "wipe"
  end
  vim.cmd.diffthis()
  vim.api.nvim_open_win(proposed, false, { split = "right", win = 0 })
  vim.api.nvim_win_call(vim.fn.win_findbuf(proposed)[1], vim.cmd.diffthis)
  require("odin.review").redraw()
end

---Show this file in place of the one that the diff on the screen is about, if it is another.
---@param file odin.ReviewFile
function M.turn_to(file)
  for proposed, about in pairs(shown) do
    if M.shows(about.bufnr) and about.uri == file.uri then
      return
    elseif M.shows(about.bufnr) then
      M.close(proposed)
      break
    end
  end
  M.open(file)
end

---Whether a diff on the screen shows what would become of a buffer, without one: of any.
---@param bufnr? integer
---@return boolean
function M.shows(bufnr)
  for proposed, about in pairs(shown) do
    for _, window in ipairs((bufnr == nil or about.bufnr == bufnr) and vim.fn.win_findbuf(proposed) or {}) do
      if vim.api.nvim_win_get_tabpage(window) == vim.api.nvim_get_current_tabpage() then
        return true
      end
    end
  end
  return false
end

---Bring the proposed texts up to date; the tabs of those of which nothing is pending any more are closed.
function M.refresh()
  for proposed in pairs(shown) do
    if not vim.api.nvim_buf_is_valid(proposed) then
      shown[proposed] = nil
    elseif not M.fill(proposed) then
      shown[proposed] = nil
      M.close(proposed)
    end
  end
end

---@private
---@param proposed integer
function M.close(proposed)
  for _, window in ipairs(vim.fn.win_findbuf(proposed)) do
    vim.api.nvim_win_call(window, function()
      vim.cmd.diffoff({ bang = true })
    end)
    if #vim.api.nvim_list_tabpages() > 1 then
      vim.cmd.tabclose(vim.api.nvim_tabpage_get_number(vim.api.nvim_win_get_tabpage(window)))
    end
  end
  if vim.api.nvim_buf_is_valid(proposed) then
    vim.api.nvim_buf_delete(proposed, { force = true })
  end
end

---@private
---@param proposed integer
---@return boolean pending
function M.fill(proposed)
  local about = shown[proposed]
  local pending = vim.tbl_filter(function(it)
    return it.file.uri == about.uri
  end, require("odin.review").pending())
  if #pending == 0 then
    return false
  end
  local lines
  if about.bufnr then
    local copy = vim.api.nvim_create_buf(false, true)
    screen.put_exactly(copy, 0, -1, vim.api.nvim_buf_get_lines(about.bufnr, 0, -1, false))
    local edits = vim.tbl_map(function(it)
      return { range = vim.deepcopy(it.hunk.range), newText = it.hunk.newText }
    end, pending)
    vim.lsp.util.apply_text_edits(edits, copy, pending[1].review.encoding)
    lines = vim.api.nvim_buf_get_lines(copy, 0, -1, false)
    vim.api.nvim_buf_delete(copy, { force = true })
  else
    lines = words.lines((pending[1].file.proposedText:gsub("\r?\n$", "")))
  end
  vim.bo[proposed].modifiable = true
  screen.put_exactly(proposed, 0, -1, lines)
  vim.bo[proposed].modifiable = false
  return true
end

return M
