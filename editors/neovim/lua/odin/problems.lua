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

---The buffers that somebody besides Odin serves.
---@return table<string, integer> by_uri
local function served()
  local found = {}
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and #peers.of(bufnr) > 0 then
      found[vim.uri_from_bufnr(bufnr)] = bufnr
    end
  end
  return found
end

---@async
---@param params { uris: string[], patienceMs: integer }
---@param odin vim.lsp.Client
---@return { items: table[] }
function M.answer(params, odin)
  local is_all = #params.uris == 0
  local deadline = vim.uv.now() + (is_all and AT_ONCE_MS or params.patienceMs)
  local buffers = is_all and served() or {}
  for _, uri in ipairs(params.uris) do
    buffers[uri] = files.borrow(uri)
  end
  local function each(holds)
    return function()
      return vim.iter(pairs(buffers)):all(function(_, bufnr)
        return holds(bufnr)
      end)
    end
  end
  if not is_all then
    peers.wait(
      each(function(bufnr)
        return not peers.is_starting(bufnr) and vim.iter(peers.of(bufnr)):all(peers.is_ready)
      end),
      deadline
    )
  end

  local requests, ticks = {}, {}
  for _, bufnr in pairs(buffers) do
    ticks[bufnr] = vim.api.nvim_buf_get_changedtick(bufnr)
    for _, client in ipairs((sources(bufnr))) do
      table.insert(requests, pull(client, bufnr))
    end
  end
  local answers = peers.ask(requests, deadline)
  if not is_all then
    peers.wait(
      each(function(bufnr)
        local _, pushing = sources(bufnr)
        return vim.iter(pushing):all(function(client)
          return peers.is_settled(client, bufnr) ~= false
        end)
      end),
      deadline
    )
  end

  local items = {}
  for uri, bufnr in pairs(buffers) do
    local found, said, is_current = {}, 0, vim.api.nvim_buf_is_valid(bufnr)
    local function add(client, diagnostics)
      said = said + 1
      vim.list_extend(found, positions.converted(diagnostics, uri, client.offset_encoding, odin.offset_encoding))
    end
    for _, request in ipairs(requests) do
      if request.bufnr == bufnr then
        local answer = answers[request]
        if answer and type(answer.result) == "table" and answer.result.items then
          add(request.client, answer.result.items)
          is_current = is_current and peers.is_ready(request.client)
        else
          is_current = false
        end
      end
    end
    if vim.api.nvim_buf_is_valid(bufnr) then
      local _, pushing = sources(bufnr)
      for _, client in ipairs(pushing) do
        local is_settled = peers.is_settled(client, bufnr)
        if is_settled ~= nil then
          add(client, pushed(client, bufnr))
          is_current = is_current and is_settled
        end
      end
      is_current = is_current and ticks[bufnr] == vim.api.nvim_buf_get_changedtick(bufnr)
    end
    table.insert(items, {
      uri = uri,
      version = vim.lsp.util.buf_versions[bufnr],
      diagnostics = found,
      current = is_current and said > 0,
    })
  end
  return { items = items }
end

return M
