-- Where the chat and its prompt stand, and where code is shown beside them.

local config = require("odin.config")
local display = require("odin.display")
local screen = require("odin.screen")

local M = {}

---Columns that are left to the code, and the line between.
local CODE = 41
local FLOAT_MARGIN = 2

---Settings of a window that hold for the buffer in it, not for what comes into the window after it.
---@param window integer
---@param options table<string, any>
local function set(window, options)
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { win = window, scope = "local" })
  end
end

---A buffer of Odin's own, in place of one that the user has deleted.
---@param kind "chat"|"prompt"
---@param root string
---@return integer bufnr
function M.buffer(kind, root)
  local name = ("odin://%s%s"):format(kind, root)
  local old = screen.named(name)
  if old then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  screen.name(bufnr, name)
  vim.bo[bufnr].bufhidden = "hide"
  vim.bo[bufnr].filetype = "markdown"
  vim.b[bufnr].odin_root = root
  vim.b[bufnr].odin_name = display.line(vim.fs.basename(root))
  return bufnr
end

---@param bufnr integer
---@return boolean
function M.is_ours(bufnr)
  return vim.api.nvim_buf_get_name(bufnr):find("^odin://chat/") ~= nil
    or vim.api.nvim_buf_get_name(bufnr):find("^odin://prompt/") ~= nil
end

---The window of this tab that shows a buffer.
---@param bufnr integer
---@return integer?
function M.find(bufnr)
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(window) == bufnr then
      return window
    end
  end
end

---Show the chat, and the prompt below it.
---@param chat integer Its buffer.
---@param prompt integer Its buffer.
---@return { chat: integer, prompt: integer } windows
---@return boolean is_new
function M.show(chat, prompt)
  local shown, below = M.find(chat), M.find(prompt)
  local is_new = not shown
  if not shown then
    shown = M.open(chat)
    set(shown, {
      foldmethod = "expr",
      foldexpr = "v:lua.require'odin.chat.transcript'.fold(v:lnum)",
      foldtext = "v:lua.require'odin.chat.transcript'.fold_text()",
      foldlevel = 0,
      winbar = "%{%v:lua.require'odin.session.status'.winbar()%}",
    })
  end
  if not below then
    below = M.open_below(prompt, shown)
    set(below, { winbar = "%{%v:lua.require'odin.chat.prompt'.winbar()%}", winfixheight = true })
  end
  M.follow()
  return { chat = shown, prompt = below }, is_new
end

---@private
---@param bufnr integer
---@return integer window
function M.open(bufnr)
  local settings = config.get()
  local where, window = settings.chat_position
  if where == "tab" then
    vim.cmd("tab split")
    window = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(window, bufnr)
  elseif where == "float" then
    window = vim.api.nvim_open_win(bufnr, false, M.float(settings))
  elseif where == "bottom" then
    local height = math.min(settings.chat_height + settings.prompt_height, math.floor(vim.o.lines * 2 / 3))
    window = vim.api.nvim_open_win(bufnr, false, { split = "below", win = -1, height = height })
    set(window, { winfixheight = true })
  else
    window = vim.api.nvim_open_win(bufnr, false, { split = where, win = -1, width = M.width(settings) })
    set(window, { winfixwidth = true })
  end
  M.plain(window)
  return window
end

---@private
---@param bufnr integer
---@param above integer
---@return integer window
function M.open_below(bufnr, above)
  local settings = config.get()
  local window
  if vim.api.nvim_win_get_config(above).relative ~= "" then
    window = vim.api.nvim_open_win(bufnr, false, M.float(settings, true))
  else
    window = vim.api.nvim_open_win(bufnr, false, { split = "below", win = above, height = settings.prompt_height })
  end
  M.plain(window)
  return window
end

---@private
---@param window integer
function M.plain(window)
  set(window, { number = false, relativenumber = false, signcolumn = "no", wrap = true, linebreak = true })
  set(window, { breakindent = true, breakindentopt = "list:-1" })
  set(window, { winfixbuf = true, statusline = " %{b:odin_name}" })
  vim.w[window].odin = true
end

---What the user wants, as long as the code can still be read.
---@private
---@param settings odin.Config
---@return integer
function M.width(settings)
  return math.min(settings.chat_width, math.max(vim.o.columns - CODE, math.floor(vim.o.columns / 2)))
end

---@private
---@param settings odin.Config
---@param is_prompt? boolean
---@return table<string, any>
function M.float(settings, is_prompt)
  local width = math.min(settings.chat_width + 20, vim.o.columns - 2 * FLOAT_MARGIN - 2)
  local height = math.max(3, vim.o.lines - settings.prompt_height - 2 * FLOAT_MARGIN - 5)
  return {
    relative = "editor",
    border = "rounded",
    row = is_prompt and height + FLOAT_MARGIN + 1 or FLOAT_MARGIN - 1,
    col = math.floor((vim.o.columns - width) / 2) - 1,
    width = width,
    height = is_prompt and settings.prompt_height or height,
  }
end

---Close the chat's windows in this tab.
---@param root string
---@return boolean closed
function M.close(root)
  local closed = false
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local bufnr = vim.api.nvim_win_get_buf(window)
    if M.is_ours(bufnr) and vim.b[bufnr].odin_root == root and #vim.api.nvim_list_wins() > 1 then
      vim.api.nvim_win_close(window, true)
      closed = true
    end
  end
  return closed
end

---A window for code: this one, or the last one that was, or any. The chat's own show nothing else.
---@return integer?
function M.code()
  local function is_code(window)
    return vim.api.nvim_win_get_config(window).relative == "" and not vim.wo[window].winfixbuf
  end
  local candidates = { vim.api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr("#")) }
  for _, window in ipairs(vim.list_extend(candidates, vim.api.nvim_tabpage_list_wins(0))) do
    if vim.api.nvim_win_is_valid(window) and is_code(window) then
      return window
    end
  end
end

---Go to a window for code, a new one if there is none.
function M.enter_code()
  local window = M.code()
  if window then
    vim.api.nvim_set_current_win(window)
    return
  end
  local empty = vim.api.nvim_create_buf(true, false)
  vim.api.nvim_open_win(empty, true, { split = config.get().chat_position == "left" and "right" or "left", win = -1 })
end

---A window whose chat was wiped out is like any other.
---@private
function M.free_windows()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.w[window].odin and not M.is_ours(vim.api.nvim_win_get_buf(window)) then
      vim.w[window].odin = nil
      set(window, { winfixbuf = false, winbar = "", statusline = "", foldmethod = vim.go.foldmethod })
    end
  end
end

---When the last window with code is left, the chat goes with it: nobody wants to close three windows to leave.
---@private
function M.follow()
  local group = vim.api.nvim_create_augroup("odin.layout", {})
  vim.api.nvim_create_autocmd("BufWipeout", {
    group = group,
    pattern = "odin://*",
    callback = vim.schedule_wrap(M.free_windows),
  })
  vim.api.nvim_create_autocmd("QuitPre", {
    group = group,
    callback = function()
      local here = vim.api.nvim_get_current_win()
      if M.is_ours(vim.api.nvim_win_get_buf(here)) then
        return
      end
      local ours = {}
      for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
        if M.is_ours(vim.api.nvim_win_get_buf(window)) then
          table.insert(ours, window)
        elseif window ~= here and vim.api.nvim_win_get_config(window).relative == "" then
          return
        end
      end
      for _, window in ipairs(ours) do
        vim.api.nvim_win_close(window, true)
      end
    end,
  })
end

return M
