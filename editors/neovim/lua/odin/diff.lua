-- A file as it is beside the file as Odin would have it, in a tab of its own, by Neovim's own diff.

local M = {}

---@type table<integer, { uri: string, bufnr?: integer }> Buffers with proposed texts.
local shown = {}

---@param file odin.ProposedFile
function M.open(file)
  local path = vim.uri_to_fname(file.uri)
  local real = require("odin.files").buffer(file.uri)
  local proposed = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(proposed, "odin://proposed" .. path .. "#" .. proposed)
  vim.bo[proposed].bufhidden = "wipe"
  vim.bo[proposed].filetype = real and vim.bo[real].filetype or (vim.filetype.match({ filename = path }) or "")
  shown[proposed] = { uri = file.uri, bufnr = real }
  M.fill(proposed)
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
end

---Bring the proposed texts up to date; those of which nothing is pending any more are taken away.
function M.refresh()
  for bufnr in pairs(shown) do
    if not vim.api.nvim_buf_is_valid(bufnr) then
      shown[bufnr] = nil
    elseif not M.fill(bufnr) then
      shown[bufnr] = nil
      vim.cmd.diffoff({ bang = true })
      vim.api.nvim_buf_delete(bufnr, { force = true })
    end
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
    vim.api.nvim_buf_set_lines(copy, 0, -1, false, vim.api.nvim_buf_get_lines(about.bufnr, 0, -1, false))
    local edits = vim.tbl_map(function(it)
      return { range = vim.deepcopy(it.hunk.range), newText = it.hunk.newText }
    end, pending)
    vim.lsp.util.apply_text_edits(edits, copy, pending[1].review.encoding)
    lines = vim.api.nvim_buf_get_lines(copy, 0, -1, false)
    vim.api.nvim_buf_delete(copy, { force = true })
  else
    lines = vim.split(pending[1].file.proposedText:gsub("\n$", ""), "\n", { plain = true })
  end
  vim.bo[proposed].modifiable = true
  vim.api.nvim_buf_set_lines(proposed, 0, -1, false, lines)
  vim.bo[proposed].modifiable = false
  return true
end

return M
