-- Loading, changing, saving and reloading files when the server asks for it.

local display = require("odin.display")

local M = {}

---How long a buffer that was loaded for a question stays loaded after it.
local BORROWED_MS = 30000

---@type table<string, true> Folders that were made for files of Odin's.
local made = {}
---@type table<integer, uv.uv_timer_t> Buffers that were loaded for a question, and what unloads them again.
local borrowed = {}

---@param uri string
---@return integer? bufnr Of a buffer that is loaded.
function M.buffer(uri)
  local bufnr = vim.fn.bufnr("^" .. vim.fn.escape(vim.uri_to_fname(uri), "\\[]*?{},") .. "$")
  return bufnr > 0 and vim.api.nvim_buf_is_loaded(bufnr) and bufnr or nil
end

---A path as people know it; what is no address of a file is its own name.
---@param uri string
---@param root string
---@return string
function M.shown(uri, root)
  local is_file, path = pcall(vim.uri_to_fname, uri)
  path = is_file and path or uri
  if vim.startswith(path, root .. "/") then
    return display.line(path:sub(#root + 2))
  end
  local home = vim.uv.os_homedir() .. "/"
  return display.line(vim.startswith(path, home) and "~/" .. path:sub(#home + 1) or path)
end

---@param uri string
---@return boolean
function M.is_folder(uri)
  return vim.fn.isdirectory(vim.uri_to_fname(uri)) == 1
end

---A file's buffer, loaded if it is not yet. Nobody is asked about swap files: that would stop everything until somebody
---looks.
---@param uri string
---@return integer? bufnr
function M.load(uri)
  local path = vim.uri_to_fname(uri)
  local loaded = M.buffer(uri)
  if loaded and borrowed[loaded] then
    M.keep(loaded)
  end
  if loaded or vim.fn.filereadable(path) == 0 then
    return loaded
  end
  local bufnr = vim.fn.bufadd(path)
  local ok, problem = pcall(M.unasked, vim.fn.bufload, bufnr)
  if not ok then
    M.warn(("%s cannot be opened: %s"):format(vim.fn.fnamemodify(path, ":~:."), problem))
  else
    M.tell_of_others(bufnr)
  end
  return vim.api.nvim_buf_is_loaded(bufnr) and bufnr or nil
end

---Show a file above the code. The user stays where they are: they may be typing.
---@param params lsp.ShowDocumentParams
---@return boolean shown
function M.show(params)
  local bufnr = M.load(params.uri)
  if not bufnr then
    return false
  end
  local window = vim.fn.win_findbuf(bufnr)[1]
  if not window then
    vim.bo[bufnr].buflisted = true
    local code = require("odin.chat.window").code()
    window = vim.api.nvim_open_win(bufnr, false, { split = "above", win = code or -1 })
  end
  if params.selection then
    local last = vim.api.nvim_buf_line_count(bufnr)
    vim.api.nvim_win_set_cursor(window, { math.min(params.selection.start.line + 1, last), 0 })
  end
  return true
end

---A file's buffer, for a question about it, with Odin attached. One that is loaded for that is not listed, and unloaded
---again a while after the last question.
---@param uri string
---@param odin vim.lsp.Client
---@return integer? bufnr
function M.borrow(uri, odin)
  local bufnr = M.buffer(uri)
  if not bufnr then
    local path = vim.uri_to_fname(uri)
    if vim.fn.filereadable(path) == 0 then
      return nil
    end
    bufnr = vim.fn.bufadd(path)
    pcall(M.unasked, vim.cmd, ("noswapfile call bufload(%d)"):format(bufnr))
    if not vim.api.nvim_buf_is_loaded(bufnr) then
      return nil
    end
    require("odin.intelligence.peers").attach(bufnr)
    borrowed[bufnr] = vim.uv.new_timer()
  end
  vim.lsp.buf_attach_client(bufnr, odin.id)
  if borrowed[bufnr] then
    borrowed[bufnr]:start(BORROWED_MS, 0, vim.schedule_wrap(function()
      M.give_back(bufnr)
    end))
  end
  return bufnr
end

---A buffer that was loaded for a question is wanted for itself: from now on it is like any other.
---@private
---@param bufnr integer
function M.keep(bufnr)
  borrowed[bufnr]:close()
  borrowed[bufnr] = nil
  pcall(M.unasked, vim.api.nvim_set_option_value, "swapfile", true, { buf = bufnr })
  M.tell_of_others(bufnr)
end

---Unload a buffer that was loaded for a question, if nobody else has taken to it.
---@private
---@param bufnr integer
function M.give_back(bufnr)
  borrowed[bufnr]:close()
  borrowed[bufnr] = nil
  local is_ours = vim.api.nvim_buf_is_loaded(bufnr) and not vim.bo[bufnr].buflisted and not vim.bo[bufnr].modified
  if is_ours and #vim.fn.win_findbuf(bufnr) == 0 then
    vim.api.nvim_buf_delete(bufnr, { unload = true })
  end
end

---@private
---@generic T
---@param run fun(...: any): T
---@return T
function M.unasked(run, ...)
  local before = vim.o.shortmess
  vim.opt.shortmess:append("A")
  local results = { pcall(run, ...) }
  vim.o.shortmess = before
  if not results[1] then
    error(results[2], 0)
  end
  return results[2]
end

---Say so if another Neovim has a swap file of it: the first one has the name that ours would have had.
---@private
---@param bufnr integer
function M.tell_of_others(bufnr)
  local own = vim.fn.swapname(bufnr)
  local first = own:gsub("%.%w+$", ".swp")
  if own == first or vim.fn.filereadable(first) == 0 then
    return
  end
  local info = vim.fn.swapinfo(first)
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(bufnr), ":~:.")
  if (info.pid or 0) > 0 then
    local unsaved = info.dirty == 1 and ", with unsaved changes there" or ""
    local brief = ("%s is also open in another Neovim"):format(name)
    M.warn(("%s (process %d)%s"):format(brief, info.pid, unsaved), brief)
  else
    local brief = ("%s has a swap file of a Neovim that stopped"):format(name)
    M.warn(brief .. "; `nvim -r` shows it", brief)
  end
end

---@private
---@param ... string Variants, from the longest to the shortest.
function M.warn(...)
  require("odin.words").say_briefly({ ... }, vim.log.levels.WARN)
end

---Have an edit carried out by Neovim, in one step to undo, apart from what the user types before and after it.
---@param params lsp.ApplyWorkspaceEditParams
---@param context lsp.HandlerContext
---@return lsp.ApplyWorkspaceEditResult
function M.apply(params, context)
  local changes = params.edit.documentChanges or {}
  params.label = nil -- it would be told each time
  local folders = {}
  for _, change in ipairs(changes) do
    if change.kind == "create" or change.kind == "rename" then
      vim.list_extend(folders, M.missing_folders(change.newUri or change.uri))
    elseif not change.kind then
      change.textDocument.version = change.textDocument.version or 0 -- Neovim 0.12 stumbles over none
      local bufnr = M.load(change.textDocument.uri)
      if bufnr then
        vim.lsp.buf_attach_client(bufnr, context.client_id)
      end
    end
  end
  M.break_undo(changes)
  local result = M.unasked(vim.lsp.handlers["workspace/applyEdit"], nil, params, context)
  M.break_undo(changes)
  for _, folder in ipairs(folders) do
    made[folder] = M.is_folder(vim.uri_from_fname(folder)) or nil
  end
  local seen = {}
  for _, change in ipairs(changes) do
    if change.kind == "delete" or change.kind == "rename" then
      M.remove_made_folders(change.oldUri or change.uri)
      table.insert(seen, { uri = change.oldUri or change.uri, type = vim.lsp.protocol.FileChangeType.Deleted })
    end
    if change.kind == "create" or change.kind == "rename" then
      table.insert(seen, { uri = change.newUri or change.uri, type = vim.lsp.protocol.FileChangeType.Created })
    end
  end
  require("odin.intelligence.peers").tell_of_files(seen)
  return result
end

---@private
---@param changes table[]
function M.break_undo(changes)
  for _, change in ipairs(changes) do
    local bufnr = change.textDocument and M.buffer(change.textDocument.uri)
    if bufnr then
      vim.bo[bufnr].undolevels = vim.bo[bufnr].undolevels
    end
  end
end

---@private
---@param uri string
---@return string[]
function M.missing_folders(uri)
  local missing = {}
  for folder in vim.fs.parents(vim.uri_to_fname(uri)) do
    if vim.uv.fs_stat(folder) then
      break
    end
    table.insert(missing, folder)
  end
  return missing
end

---What is gone leaves no empty folder behind that was made for it.
---@private
---@param uri string
function M.remove_made_folders(uri)
  for folder in vim.fs.parents(vim.uri_to_fname(uri)) do
    if not made[folder] or not vim.uv.fs_rmdir(folder) then -- which leaves folders that hold something
      break
    end
    made[folder] = nil
  end
end

---@param uris string[]
---@return { saved: string[], failed: { uri: string, reason: string }[] }
function M.save(uris)
  local saved, failed = {}, {}
  for _, uri in ipairs(uris) do
    local problem = M.write(M.buffer(uri))
    if problem then
      table.insert(failed, { uri = uri, reason = problem })
    else
      table.insert(saved, uri)
    end
  end
  return { saved = saved, failed = failed }
end

---@param bufnr integer?
---@return string? problem
function M.write(bufnr)
  if not bufnr then
    return "it is not open"
  end
  local changed = M.changed_on_disk(bufnr)
  if changed and not M.is_on_disk(bufnr) then
    return "the file has changed on disk since it was read"
  end
  local ok, err = pcall(vim.api.nvim_buf_call, bufnr, function()
    vim.cmd(changed and "silent lockmarks write!" or "silent lockmarks write")
  end)
  return not ok and tostring(err):match("E%d+:.*") or (not ok and tostring(err)) or nil
end

---@param uris string[]
---@return { reloaded: string[], kept: { uri: string, reason: string }[] }
function M.reload(uris)
  local reloaded, kept = {}, {}
  for _, uri in ipairs(uris) do
    local bufnr = M.buffer(uri)
    if not bufnr then
      table.insert(kept, { uri = uri, reason = "it is not open" })
    elseif vim.bo[bufnr].modified then
      table.insert(kept, { uri = uri, reason = "it has unsaved changes" })
    else
      vim.cmd.checktime(bufnr)
      table.insert(reloaded, uri)
    end
  end
  return { reloaded = reloaded, kept = kept }
end

---Whether the file has the buffer's text already, but perhaps for the end of its last line: another program has
---written it.
---@param bufnr integer
function M.is_on_disk(bufnr)
  local eol = ({ dos = "\r\n", mac = "\r" })[vim.bo[bufnr].fileformat] or "\n"
  local text = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, true), eol)
  local file = io.open(vim.api.nvim_buf_get_name(bufnr), "rb")
  local content = file and file:read("*a")
  if file then
    file:close()
  end
  return content == text or content == text .. eol
end

---Whether `:write` would ask if the user is sure, which nobody could answer.
---@param bufnr integer
function M.changed_on_disk(bufnr)
  local known = vim.b[bufnr].odin_mtime
  local stat = vim.uv.fs_stat(vim.api.nvim_buf_get_name(bufnr))
  return known and stat and (known[1] ~= stat.mtime.sec or known[2] ~= stat.mtime.nsec) or false
end

---Keep in mind when a file was read or written.
function M.note_time(event)
  local stat = vim.uv.fs_stat(vim.api.nvim_buf_get_name(event.buf))
  vim.b[event.buf].odin_mtime = stat and { stat.mtime.sec, stat.mtime.nsec } or nil
end

return M
