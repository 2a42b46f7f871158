-- Saving and reloading buffers when the server asks for it.

local M = {}

---@param uri string
---@return integer? bufnr Of a buffer that is loaded.
function M.buffer(uri)
  local bufnr = vim.fn.bufnr("^" .. vim.fn.escape(vim.uri_to_fname(uri), "\\[]*?{},") .. "$")
  return bufnr > 0 and vim.api.nvim_buf_is_loaded(bufnr) and bufnr or nil
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
  if M.changed_on_disk(bufnr) then
    return "the file has changed on disk since it was read"
  end
  local ok, err = pcall(vim.api.nvim_buf_call, bufnr, function()
    vim.cmd("silent lockmarks write")
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

---Whether `:write` would ask if the user is sure, which nobody could answer.
---@param bufnr integer
function M.changed_on_disk(bufnr)
  local known = vim.b[bufnr].odin_mtime
  local stat = vim.uv.fs_stat(vim.api.nvim_buf_get_name(bufnr))
  return known and stat and (known[1] ~= stat.mtime.sec or known[2] ~= stat.mtime.nsec) or false
end

---@param bufnr integer
local function note_time(bufnr)
  local stat = vim.uv.fs_stat(vim.api.nvim_buf_get_name(bufnr))
  vim.b[bufnr].odin_mtime = stat and { stat.mtime.sec, stat.mtime.nsec } or nil
end

---Keep in mind when files were read and written.
function M.follow()
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufWritePost", "FileChangedShellPost" }, {
    group = vim.api.nvim_create_augroup("odin.files", {}),
    callback = function(event)
      note_time(event.buf)
    end,
  })
end

return M
