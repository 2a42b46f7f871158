-- `odin/editor/request`: Odin asks what the other language servers know.

local files = require("odin.client.files")
local peers = require("odin.intelligence.peers")
local positions = require("odin.intelligence.positions")

local M = {}

local CODE_ACTION = "textDocument/codeAction"
---What needs no more than the document itself.
local OF_ONE_FILE = { ["textDocument/documentSymbol"] = true, ["textDocument/formatting"] = true }

---The server's own diagnostics where code actions are asked for: it knows its quick fixes by them.
---@param client vim.lsp.Client
---@param params lsp.CodeActionParams
---@param told odin.Said[]
local function add_diagnostics(client, params, told)
  local found = {}
  local first, last = params.range.start.line, params.range["end"].line
  for _, said in ipairs(told) do
    for _, it in ipairs(said.client.id == client.id and said.diagnostics or {}) do
      if it.range.start.line <= last and it.range["end"].line >= first then
        table.insert(found, it)
      end
    end
  end
  params.context = vim.tbl_extend("force", params.context or {}, { diagnostics = found })
end

---Code actions with their edits, as far as there is time.
---@async
---@param request odin.PeerRequest
---@param actions (lsp.Command|lsp.CodeAction)[]
---@param deadline integer
local function resolve(request, actions, deadline)
  local client = request.client
  local can = vim.lsp.get_clients({ bufnr = request.bufnr, id = client.id, method = "codeAction/resolve" })[1]
  if not can then
    return
  end
  local requests, places = {}, {}
  for place, action in ipairs(actions) do
    if not action.edit and not action.disabled and type(action.command) ~= "string" then
      local it = { client = client, method = "codeAction/resolve", params = action, bufnr = request.bufnr }
      table.insert(requests, it)
      places[it] = place
    end
  end
  for it, answer in pairs(peers.ask(requests, deadline)) do
    if type(answer.result) == "table" then
      actions[places[it]] = answer.result
    end
  end
end

---@param client vim.lsp.Client
---@param asked odin.EditorRequest
---@param bufnr integer
---@param encoding string
---@param told? odin.Said[]
---@return odin.PeerRequest
local function request_to(client, asked, bufnr, encoding, told)
  local params = vim.deepcopy(positions.converted(asked.params, asked.uri, encoding, client.offset_encoding))
  if told then
    add_diagnostics(client, params, told)
  end
  return { client = client, method = asked.method, params = params, bufnr = bufnr }
end

---@async
---@param request odin.PeerRequest
---@param answer odin.PeerAnswer
---@param deadline integer
---@param encoding string
---@return any
local function result_of(request, answer, deadline, encoding)
  if request.method == CODE_ACTION and answer.result then
    resolve(request, answer.result, deadline)
  end
  local uri = vim.tbl_get(request.params, "item", "uri") or vim.uri_from_bufnr(request.bufnr)
  return positions.converted(answer.result, uri, request.client.offset_encoding, encoding)
end

---@async
---@param asked odin.EditorRequest
---@param odin vim.lsp.Client
---@return { answers: table[], late: string[], failed: table[] }
function M.answer(asked, odin)
  local now = vim.uv.now()
  local deadline, patience = now + asked.timeoutMs, now + asked.timeoutMs / 2
  local told = { answers = {}, late = {}, failed = {} }
  local bufnr = files.borrow(asked.uri, odin)
  if not bufnr then
    return told
  end
  peers.wait(function()
    return #peers.starting(bufnr) == 0
  end, patience)
  vim.list_extend(told.late, vim.tbl_map(peers.name, peers.starting(bufnr)))
  if not OF_ONE_FILE[asked.method] then
    peers.wait(function()
      return vim.iter(peers.of(bufnr, asked.method)):all(peers.is_ready)
    end, patience)
  end
  peers.catch_up({ bufnr }, patience)
  local requests, ready = {}, {}
  local problems = asked.method == CODE_ACTION and require("odin.intelligence.problems").of(bufnr, patience) or nil
  for _, client in ipairs(peers.of(bufnr, asked.method)) do
    local request = request_to(client, asked, bufnr, odin.offset_encoding, problems)
    table.insert(requests, request)
    ready[request] = OF_ONE_FILE[asked.method] or peers.is_ready(client)
  end
  local answers = peers.ask(requests, deadline)
  for _, request in ipairs(requests) do
    local name, answer = peers.name(request.client), answers[request]
    if not answer then
      table.insert(told.late, name)
    elseif answer.err then
      table.insert(told.failed, { server = name, reason = tostring(answer.err.message) })
    else
      local ok, result = pcall(result_of, request, answer, deadline, odin.offset_encoding)
      if ok then
        table.insert(told.answers, { server = name, ready = ready[request], result = result })
      else
        table.insert(told.failed, { server = name, reason = "its answer cannot be read: " .. tostring(result) })
      end
    end
  end
  return told
end

return M
