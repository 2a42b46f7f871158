-- What is selected, or where the cursor is: told while an agent in a terminal uses Neovim as its IDE.

local compat = require("odin.client.compat")

local M = {}

local PAUSE_MS = 100
local GROUP = "odin.selection"

---@return integer[] start, integer[] stop Rows and columns from 0; the second one is behind the last character.
local function span()
  local mode = vim.fn.mode()
  local cursor = vim.api.nvim_win_get_cursor(0)
  local here = { cursor[1] - 1, cursor[2] }
  if not mode:match("^[vV\22]") then
    return here, here
  end
  local mark = vim.fn.getpos("v")
  local first, last = { mark[2] - 1, mark[3] - 1 }, here
  if first[1] > last[1] or (first[1] == last[1] and first[2] > last[2]) then
    first, last = last, first
  end
  local line = vim.api.nvim_buf_get_lines(0, last[1], last[1] + 1, true)[1]
  if mode == "V" then
    return { first[1], 0 }, { last[1], #line }
  end
  local ends = vim.str_utf_end(line .. " ", math.min(last[2], #line) + 1)
  return first, { last[1], math.min(last[2] + ends + 1, #line) }
end

---@param client vim.lsp.Client
local function tell(client)
  local bufnr = vim.api.nvim_get_current_buf()
  if not vim.lsp.buf_is_attached(bufnr, client.id) then
    return
  end
  local context = require("odin.chat.context")
  local first, last = span()
  compat.notify(client, "odin/selection", {
    uri = context.uri(bufnr),
    range = {
      start = context.position(bufnr, first[1], first[2], client.offset_encoding),
      ["end"] = context.position(bufnr, last[1], last[2], client.offset_encoding),
    },
  })
end

---@param enabled boolean
---@param client vim.lsp.Client
function M.watch(enabled, client)
  local group = vim.api.nvim_create_augroup(("%s.%d"):format(GROUP, client.id), {})
  if not enabled then
    return
  end
  local waiting = false
  local function soon()
    if waiting then
      return
    end
    waiting = true
    vim.defer_fn(function()
      waiting = false
      if vim.lsp.get_client_by_id(client.id) then
        tell(client)
      end
    end, PAUSE_MS)
  end
  vim.api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI", "ModeChanged", "BufEnter" }, {
    group = group,
    callback = soon,
  })
  soon()
end

return M
