-- A float in which the user writes: `:w` takes the text as it stands, `:q!` leaves everything as it is.

local screen = require("odin.screen")

local M = {}

---@param about { name: string, lines: string[], title: string, filetype?: string, root?: string }
---@param place table<string, any> Where it is, as `nvim_open_win` takes it.
---@param written fun(lines: string[])
---@param left? fun() It was closed, and nothing was written.
---@return integer window
function M.write(about, place, written, left)
  local bufnr = vim.api.nvim_create_buf(false, true)
  screen.name(bufnr, about.name)
  vim.bo[bufnr].buftype = "acwrite"
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].filetype = about.filetype or ""
  vim.b[bufnr].odin_root = about.root
  screen.put_exactly(bufnr, 0, -1, about.lines)
  vim.bo[bufnr].modified = false
  local window = screen.float(
    bufnr,
    true,
    vim.tbl_extend("error", place, {
      width = math.max(40, math.min(100, vim.o.columns - 8)),
      height = math.max(3, math.min(#about.lines + 1, vim.o.lines - 6)),
      border = "rounded",
      title = about.title,
    })
  )
  local is_written = false
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = bufnr,
    callback = function()
      local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
      vim.bo[bufnr].modified = false
      is_written = true
      vim.schedule(function()
        if vim.api.nvim_win_is_valid(window) then
          vim.api.nvim_win_close(window, true)
        end
        written(lines)
      end)
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = bufnr,
    callback = vim.schedule_wrap(function()
      if left and not is_written then
        left()
      end
    end),
  })
  return window
end

return M
