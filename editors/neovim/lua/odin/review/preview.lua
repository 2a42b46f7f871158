-- Buffers for changes that have no file to be shown over: new files, and folders that would go or move.

local files = require("odin.client.files")
local screen = require("odin.screen")
local words = require("odin.words")

local M = {}

local MANY = 200
---@type table<string, { bufnr: integer, uri: string }> By hunk.
local shown = {}

---@param id string Of a hunk.
---@return integer? bufnr
function M.buffer(id)
  local bufnr = shown[id] and shown[id].bufnr
  return bufnr and vim.api.nvim_buf_is_loaded(bufnr) and bufnr or nil
end

---The buffer of a change, made if there is none yet.
---@param it odin.OpenHunk
---@return integer bufnr
function M.open(it)
  local old = M.buffer(it.hunk.id)
  if old then
    return old
  end
  local path = vim.uri_to_fname(it.file.uri)
  local bufnr = vim.api.nvim_create_buf(false, true)
  screen.name(bufnr, ("odin://%s%s#%s"):format(it.file.operation, path, it.hunk.id))
  vim.bo[bufnr].bufhidden = "hide"
  local put = it.file.operation == "create" and screen.put_exactly or screen.put
  put(bufnr, 0, -1, M.lines(it))
  vim.bo[bufnr].modifiable = false
  vim.b[bufnr].odin_root = it.review.root
  if it.file.operation == "create" then
    vim.bo[bufnr].filetype = vim.filetype.match({ filename = path, buf = bufnr }) or ""
  end
  shown[it.hunk.id] = { bufnr = bufnr, uri = it.file.uri }
  return bufnr
end

---Take away what is over: windows show the file itself, if there is one now.
---@param needed table<string, boolean> Hunks that still have to be shown.
function M.refresh(needed)
  for id, it in pairs(shown) do
    local bufnr = M.buffer(id)
    if not (bufnr and needed[id]) then
      shown[id] = nil
    end
    if bufnr and not shown[id] then
      for _, window in ipairs(vim.fn.win_findbuf(bufnr)) do
        local real = files.load(it.uri)
        if real then
          vim.api.nvim_win_set_buf(window, real)
        end
      end
      vim.api.nvim_buf_delete(bufnr, { force = true })
    end
  end
end

---@private
---@param it odin.OpenHunk
---@return string[]
function M.lines(it)
  if it.file.operation == "create" then
    return words.lines((it.hunk.newText:gsub("\r?\n$", "")))
  end
  local path = vim.uri_to_fname(it.file.uri)
  local lines = { path }
  for name, kind in vim.fs.dir(path, { depth = math.huge }) do
    if #lines > MANY then
      table.insert(lines, "…")
      break
    end
    table.insert(lines, kind == "directory" and name .. "/" or name)
  end
  return lines
end

return M
