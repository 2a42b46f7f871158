-- Which folder something belongs to: there is one server for each.

local config = require("odin.config")

local M = {}

---@type table<integer, { name: string, root: string }> By buffer: which file's root was found.
local found = {}

---The folder that a buffer belongs to.
---@param bufnr integer
---@return string
function M.of(bufnr)
  local own = vim.b[bufnr].odin_root
  if own then
    return own
  end
  local name = vim.api.nvim_buf_get_name(bufnr)
  if found[bufnr] and found[bufnr].name == name then
    return found[bufnr].root
  end
  local root = name ~= "" and vim.bo[bufnr].buftype == "" and vim.fs.root(bufnr, config.get().root_markers)
  if not root then
    return vim.fs.normalize(vim.fn.getcwd())
  end
  found[bufnr] = { name = name, root = vim.fs.normalize(root) }
  return found[bufnr].root
end

---The folder of a client.
---@param settings { root_dir?: string }
---@return string
function M.of_client(settings)
  return vim.fs.normalize(settings.root_dir or "")
end

---@param root string
function M.folders(root)
  return { { uri = vim.uri_from_fname(root), name = vim.fs.basename(root) } }
end

return M
