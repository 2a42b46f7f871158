-- `odin/editor/diagnostics`: what is wrong with documents as they stand now, by the other language servers.

local files = require("odin.files")
local peers = require("odin.peers")
local positions = require("odin.positions")

local M = {}

local PULL = "textDocument/diagnostic"
---What is asked of everybody at once may take no longer.
local AT_ONCE_MS = 500

---Who could say something about a buffer: asked now, or heard already.
---@param bufnr integer
---@return vim.lsp.Client[] pulled
---@return vim.lsp.Client[] pushing
local function sources(bufnr)
  local pulled, is_pulled, pushing = peers.of(bufnr, PULL), {}, {}
  for _, client in ipairs(pulled) do
    is_pulled[client.id] = true
  end
  for _, client in ipairs(peers.of(bufnr)) do
    if not is_pulled[client.id] then
      table.insert(pushing, client)
    end
  end
  return pulled, pushing
end

---@param client vim.lsp.Client
---@param bufnr integer
---@return lsp.Diagnostic[]
local function pushed(client, bufnr)
  local namespace = vim.lsp.diagnostic.get_namespace(client.id, false)
  return vim
    .iter(vim.diagnostic.get(bufnr, { namespace = namespace }))
    :map(function(it)
      return it.user_data and it.user_data.lsp
    end)
    :totable()
end

---@param client vim.lsp.Client
---@param bufnr integer
---@return odin.PeerRequest
local function pull(client, bufnr)
  local identifier = vim.tbl_get(client.server_capabilities, "diagnosticProvider", "identifier")
  local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) }, identifier = identifier }
  return { client = client, method = PULL, params = params, bufnr = bufnr }
end

---The buffers that somebody besides Odin serves, too.
---@param odin vim.lsp.Client
---@return table<string, integer> by_uri
local function served(odin)
  local found = {}
  for bufnr in pairs(odin.attached_buffers) do
    if vim.api.nvim_buf_is_loaded(bufnr) and #peers.of(bufnr) > 0 then
      found[vim.uri_from_bufnr(bufnr)] = bufnr
    end
  end
  return found
end

---Whether something is true of all buffers.
---@param buffers table<string, integer>
---@param holds fun(bufnr: integer): boolean
---@return fun(): boolean
local function all(buffers, holds)
  return function()
    return vim.iter(vim.tbl_values(buffers)):all(function(bufnr)
      return not vim.api.nvim_buf_is_loaded(bufnr) or holds(bufnr)
    end)
  end
end

---@param bufnr integer
---@return boolean
local function is_ready(bufnr)
  return not peers.is_starting(bufnr) and vim.iter(peers.of(bufnr)):all(peers.is_ready)
end

---@param bufnr integer
---@return boolean
local function is_settled(bufnr)
  local _, pushing = sources(bufnr)
  return vim.iter(pushing):all(function(client)
    return peers.is_settled(client, bufnr) ~= false
  end)
end

---@class odin.Said
---@field client vim.lsp.Client
---@field diagnostics? lsp.Diagnostic[] None: it has not answered.
---@field is_current boolean

---@async
---@param buffers table<string, integer>
---@param deadline integer
---@return table<integer, odin.Said[]> by_buffer
local function pull_all(buffers, deadline)
  local requests, ready = {}, {}
  for _, bufnr in pairs(buffers) do
    for _, client in ipairs((sources(bufnr))) do
      local request = pull(client, bufnr)
      table.insert(requests, request)
      ready[request] = peers.is_ready(client)
    end
  end
  local answers, told = peers.ask(requests, deadline), vim.defaulttable()
  for _, request in ipairs(requests) do
    local result = answers[request] and answers[request].result
    local items = type(result) == "table" and result.items or nil
    local said = { client = request.client, diagnostics = items, is_current = items ~= nil and ready[request] }
    table.insert(told[request.bufnr], said)
  end
  return told
end

---@param bufnr integer
---@return odin.Said[]
local function pushed_to(bufnr)
  local told = {}
  local _, pushing = sources(bufnr)
  for _, client in ipairs(pushing) do
    local settled = peers.is_settled(client, bufnr)
    if settled ~= nil then
      table.insert(told, { client = client, diagnostics = pushed(client, bufnr), is_current = settled })
    end
  end
  return told
end

---@param uri string
---@param bufnr integer
---@param told odin.Said[]
---@param encoding string
---@return table
local function item(uri, bufnr, told, encoding)
  local found, is_current = {}, #told > 0
  for _, said in ipairs(told) do
    local ok, diagnostics =
      pcall(positions.converted, said.diagnostics or {}, uri, said.client.offset_encoding, encoding)
    vim.list_extend(found, ok and diagnostics or {})
    is_current = is_current and ok and said.is_current
  end
  return { uri = uri, version = vim.lsp.util.buf_versions[bufnr], diagnostics = found, current = is_current }
end

---@async
---@param params { uris: string[], patienceMs: integer }
---@param odin vim.lsp.Client
---@return { items: table[] }
function M.answer(params, odin)
  local is_all = #params.uris == 0
  local deadline = vim.uv.now() + (is_all and AT_ONCE_MS or params.patienceMs)
  local buffers = is_all and served(odin) or {}
  for _, uri in ipairs(params.uris) do
    buffers[uri] = files.borrow(uri, odin)
  end
  if not is_all then
    peers.wait(all(buffers, is_ready), deadline)
  end
  local ticks = vim.tbl_map(vim.api.nvim_buf_get_changedtick, buffers)
  peers.catch_up(vim.tbl_values(buffers), deadline)
  local told = pull_all(buffers, deadline)
  if not is_all then
    peers.wait(all(buffers, is_settled), deadline)
  end
  local items = {}
  for uri, bufnr in pairs(buffers) do
    if vim.api.nvim_buf_is_loaded(bufnr) then
      local one = item(uri, bufnr, vim.list_extend(told[bufnr], pushed_to(bufnr)), odin.offset_encoding)
      one.current = one.current and ticks[uri] == vim.api.nvim_buf_get_changedtick(bufnr)
      table.insert(items, one)
    end
  end
  return { items = items }
end

return M
