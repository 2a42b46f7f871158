-- `odin/editor/diagnostics`: what is wrong with documents as they stand now, by the other language servers.

local files = require("odin.client.files")
local peers = require("odin.intelligence.peers")
local positions = require("odin.intelligence.positions")

local M = {}

local PULL = "textDocument/diagnostic"
---With this TypeScript's servers pass on what is not LSP: they push late and without versions, but can be asked, too.
local TSSERVER = "typescript.tsserverRequest"
local TS_ASKS = { "syntacticDiagnosticsSync", "semanticDiagnosticsSync" }
local TS_SEVERITY = { error = 1, warning = 2, message = 3, suggestion = 4 }
---What is asked of everybody at once may take no longer.
local AT_ONCE_MS = 500

---@class odin.Pull: odin.PeerRequest
---@field read fun(result: table): lsp.Diagnostic[]?

---@param client vim.lsp.Client
---@param bufnr integer
---@return odin.Pull
local function lsp_pull(client, bufnr)
  local identifier = vim.tbl_get(client.server_capabilities, "diagnosticProvider", "identifier")
  return {
    client = client,
    method = PULL,
    params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) }, identifier = identifier },
    bufnr = bufnr,
    read = function(result)
      return result.items
    end,
  }
end

---@param it { start: table, end: table, text: string, code: integer, category: string } Counted from 1, in UTF-16.
---@return lsp.Diagnostic
local function from_typescript(it)
  local first, last = it.start, it["end"]
  return {
    range = {
      start = { line = first.line - 1, character = first.offset - 1 },
      ["end"] = { line = last.line - 1, character = last.offset - 1 },
    },
    message = it.text,
    code = it.code,
    source = "typescript",
    severity = TS_SEVERITY[it.category],
  }
end

---@param client vim.lsp.Client
---@param bufnr integer
---@return odin.Pull[]
local function typescript_pulls(client, bufnr)
  return vim.tbl_map(function(ask)
    local about = { file = vim.api.nvim_buf_get_name(bufnr) }
    return {
      client = client,
      method = "workspace/executeCommand",
      params = { command = TSSERVER, arguments = { ask, about, vim.empty_dict() } },
      bufnr = bufnr,
      read = function(result)
        return result.success and vim.tbl_map(from_typescript, result.body)
      end,
    }
  end, TS_ASKS)
end

---Who could say something about a buffer: asked now, or heard already.
---@param bufnr integer
---@return odin.Pull[] pulls
---@return vim.lsp.Client[] pushing
local function sources(bufnr)
  local pulls, pushing, has_pull = {}, {}, {}
  for _, client in ipairs(peers.of(bufnr, PULL)) do
    table.insert(pulls, lsp_pull(client, bufnr))
    has_pull[client.id] = true
  end
  for _, client in ipairs(peers.of(bufnr)) do
    local commands = vim.tbl_get(client.server_capabilities, "executeCommandProvider", "commands") or {}
    if not has_pull[client.id] and vim.list_contains(commands, TSSERVER) then
      vim.list_extend(pulls, typescript_pulls(client, bufnr))
    elseif not has_pull[client.id] then
      table.insert(pushing, client)
    end
  end
  return pulls, pushing
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
  return #peers.starting(bufnr) == 0 and vim.iter(peers.of(bufnr)):all(peers.is_ready)
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
---@field diagnostics lsp.Diagnostic[]
---@field is_current boolean

---@async
---@param buffers table<any, integer>
---@param deadline integer
---@return table<integer, odin.Said[]> by_buffer
local function pull_all(buffers, deadline)
  local pulls, ready = {}, {}
  for _, bufnr in pairs(buffers) do
    for _, pull in ipairs((sources(bufnr))) do
      table.insert(pulls, pull)
      ready[pull] = peers.is_ready(pull.client)
    end
  end
  local answers, told = peers.ask(pulls, deadline), vim.defaulttable()
  for _, pull in ipairs(pulls) do
    local result = answers[pull] and answers[pull].result
    local ok, items = pcall(pull.read, result)
    local is_answer = ok and type(items) == "table"
    table.insert(told[pull.bufnr], {
      client = pull.client,
      diagnostics = is_answer and items or {},
      is_current = is_answer and ready[pull],
    })
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

---What each has to say about a buffer.
---@async
---@param bufnr integer
---@param deadline integer
---@return odin.Said[]
function M.of(bufnr, deadline)
  return vim.list_extend(pull_all({ bufnr }, deadline)[bufnr], pushed_to(bufnr))
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
      pcall(positions.converted, said.diagnostics, uri, said.client.offset_encoding, encoding)
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
