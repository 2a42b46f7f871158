-- The language servers besides Odin: who serves a buffer, whether they know all of the project, and what they answer.

local compat = require("odin.client.compat")

local M = {}

local ODIN = "odin"
local LOOK_MS = 20
---What any server answers soon.
local BRIEF = { "textDocument/documentSymbol", "textDocument/diagnostic" }
---With these a server says that it should be asked again: the text has changed meanwhile.
local AGAIN = { [-32801] = true, [-32802] = true }
---A server that never tells how far it is counts as ready after so long; one that is ready and has pushed nothing after
---so long does not.
local SILENT_MS, NEVER_MS = 30000, 3000
---Until a change is sent on, until a server has surely seen it, and until one that has nothing more to say is believed.
local FLUSH_MS, SEEN_MS, QUIET_MS = 150, 2000, 300

---How servers tell that they have loaded the project, by a part of their names; others by the end of a progress. After
---a change some push for all that is open, and others only where something is new.
---@type table<string, { at_once?: true, says?: string[], settles?: integer, pushes_all?: true }>
local RULES = {
  clangd = { settles = 2000 },
  jdtls = { settles = 2000 },
  pyright = { says = { "^Found %d+ source file", "^No source files found" }, pushes_all = true },
  ruff = { at_once = true },
  rust_analyzer = { settles = 2000 },
  ["rust-analyzer"] = { settles = 2000 },
  tsgo = { at_once = true },
}

---@class odin.Peer
---@field since integer When it was seen first.
---@field loaded? integer When it has told that it has the project.
---@field pushed table<integer, { at: integer, version?: integer }> By buffer: its last diagnostics.
---@field last_push? integer

---@type table<integer, odin.Peer> By client.
local known = {}
---@type table<integer, integer> By buffer: when it was opened.
local opened = {}
---@type table<integer, integer> By buffer: when it has last changed since.
local changed = {}

---@param client vim.lsp.Client
local function rule_of(client)
  local cmd = client.config.cmd
  local program = type(cmd) == "table" and vim.fs.basename(cmd[1]) or ""
  for name, rule in pairs(RULES) do
    if client.name:find(name, 1, true) or program:find(name, 1, true) then
      return rule
    end
  end
  return {}
end

---Have a handler called before the one that the client has.
---@param client vim.lsp.Client
---@param method string
---@param note fun(params: table)
local function overhear(client, method, note)
  local own = client.handlers[method]
  client.handlers = vim.tbl_extend("force", client.handlers, {
    [method] = function(err, params, ...)
      if params then
        note(params)
      end
      return (own or vim.lsp.handlers[method])(err, params, ...)
    end,
  })
end

---@param client vim.lsp.Client
---@return odin.Peer
local function meet(client)
  local peer = known[client.id]
  if peer then
    return peer
  end
  peer = { since = vim.uv.now(), pushed = {} }
  known[client.id] = peer
  local says = rule_of(client).says
  if says then
    overhear(client, "window/logMessage", function(params)
      for _, words in ipairs(says) do
        if params.message:find(words) then
          peer.loaded = vim.uv.now()
        end
      end
    end)
  end
  overhear(client, "textDocument/publishDiagnostics", function(params)
    local bufnr = require("odin.client.files").buffer(params.uri)
    peer.last_push = vim.uv.now()
    if bufnr then
      local version = type(params.version) == "number" and params.version or nil
      peer.pushed[bufnr] = { at = vim.uv.now(), version = version }
    end
  end)
  return peer
end

---@param bufnr integer
local function watch(bufnr)
  if opened[bufnr] then
    return
  end
  opened[bufnr] = vim.uv.now()
  local function note()
    changed[bufnr] = vim.uv.now()
  end
  vim.api.nvim_buf_attach(bufnr, false, {
    on_lines = note,
    on_reload = note,
    on_detach = function()
      opened[bufnr], changed[bufnr] = nil, nil
    end,
  })
end

---Keep in mind what a server tells, from now on.
function M.attached(event)
  local client = vim.lsp.get_client_by_id(event.data.client_id)
  if client and client.name ~= ODIN then
    meet(client)
    watch(event.buf)
  end
end

function M.progressed(event)
  local client = vim.lsp.get_client_by_id(event.data.client_id)
  if client and client.name ~= ODIN and not rule_of(client).says then
    meet(client).loaded = vim.uv.now()
  end
end

---Those that serve a buffer, and offer the method as of now: some say so only after a while.
---@param bufnr integer
---@param method? string
---@return vim.lsp.Client[]
function M.of(bufnr, method)
  return vim.tbl_filter(function(client)
    return client.name ~= ODIN and not client.rpc.is_closing()
  end, vim.lsp.get_clients({ bufnr = bufnr, method = method }))
end

---Have a buffer that nobody shows served by those that serve others of its kind: some are attached by hand.
---@param bufnr integer
function M.attach(bufnr)
  local path, kind = vim.api.nvim_buf_get_name(bufnr), vim.bo[bufnr].filetype
  for _, client in ipairs(vim.lsp.get_clients()) do
    local root = client.config.root_dir
    local is_below = type(root) == "string" and vim.startswith(path, vim.fs.normalize(root) .. "/")
    local is_alike = vim.iter(pairs(client.attached_buffers)):any(function(other)
      return vim.api.nvim_buf_is_loaded(other) and vim.bo[other].filetype == kind
    end)
    if client.name ~= ODIN and is_below and is_alike and not client.attached_buffers[bufnr] then
      vim.lsp.buf_attach_client(bufnr, client.id)
    end
  end
end

---Those of a buffer that are just starting.
---@param bufnr integer
---@return vim.lsp.Client[]
function M.starting(bufnr)
  return vim.tbl_filter(function(client)
    return client.name ~= ODIN and not client.initialized and not client.rpc.is_closing()
  end, vim.lsp.get_clients({ bufnr = bufnr, _uninitialized = true }))
end

---@param client vim.lsp.Client
---@return string
function M.name(client)
  return client.name .. " in Neovim"
end

---Whether it has all of the project; if not, its answers may be incomplete and look as if they were not.
---@param client vim.lsp.Client
---@return boolean
function M.is_ready(client)
  local rule, peer = rule_of(client), meet(client)
  if rule.at_once then
    return true
  elseif not rule.says and next(client.progress.pending) then
    return false
  end
  if peer.loaded then
    return vim.uv.now() - peer.loaded >= (rule.settles or 0)
  end
  return vim.uv.now() - peer.since >= SILENT_MS
end

---Of its buffers the one with the latest of these times, and that.
---@param client vim.lsp.Client
---@param times table<integer, integer>
---@return integer? bufnr
---@return integer at
local function newest_of(client, times)
  local newest, at = nil, 0
  for bufnr in pairs(client.attached_buffers) do
    if (times[bufnr] or 0) > at then
      newest, at = bufnr, times[bufnr]
    end
  end
  return newest, at
end

---Whether what it has pushed for a buffer is about the text as it stands now, here and in the other buffers. Nil: it
---pushes no diagnostics.
---@param client vim.lsp.Client
---@param bufnr integer
---@return boolean?
function M.is_settled(client, bufnr)
  local peer = meet(client)
  if not M.is_ready(client) then
    return false
  elseif not peer.last_push then
    local is_young = vim.uv.now() - (peer.loaded or peer.since) < NEVER_MS
    return is_young and false or nil
  end
  local own = peer.pushed[bufnr]
  local newest, since = newest_of(client, changed)
  local push = peer.pushed[newest]
  if not own or own.at < (opened[bufnr] or 0) then
    return false
  elseif not newest then
    return true
  elseif not push or push.at < since or (rule_of(client).pushes_all and own.at < since) then
    return false
  end
  local is_answer
  if push.version then
    is_answer = push.version >= (vim.lsp.util.buf_versions[newest] or 0)
  else
    is_answer = push.at - since >= FLUSH_MS
  end
  return is_answer and (newest == bufnr or vim.uv.now() - peer.last_push >= QUIET_MS)
end

---@async
---@param ms integer
local function sleep(ms)
  local routine = coroutine.running()
  vim.defer_fn(function()
    require("odin.client.routines").resume(routine)
  end, ms)
  coroutine.yield()
end

---Wait until something is true, or the time is over.
---@async
---@param condition fun(): boolean
---@param deadline integer
function M.wait(condition, deadline)
  while not condition() and vim.uv.now() < deadline do
    sleep(LOOK_MS)
  end
end

---@class odin.PeerRequest
---@field client vim.lsp.Client
---@field method string
---@field params table
---@field bufnr integer

---@class odin.PeerAnswer
---@field err? lsp.ResponseError
---@field result any

---Wait until all have answered or the time is over: one that has died never calls back. What is late is not canceled:
---pyright fails every later question of a kind that was canceled while it loaded.
---@async
---@param requests odin.PeerRequest[]
---@param deadline integer
---@return table<odin.PeerRequest, odin.PeerAnswer> answers Without those that are late.
local function ask_once(requests, deadline)
  local routine, is_waiting = coroutine.running(), false
  local answers, left = {}, #requests
  local function wake()
    if is_waiting then
      is_waiting = false
      require("odin.client.routines").resume(routine)
    end
  end
  for _, it in ipairs(requests) do
    local function take(err, result)
      if not answers[it] then
        answers[it] = { err = err, result = result }
        left = left - 1
        if left == 0 then
          wake()
        end
      end
    end
    -- Without a buffer: then the changes of all are sent before, and not only those of one.
    local ok, sent = pcall(compat.request, it.client, it.method, it.params, take)
    if not ok or not sent then
      take({ code = 0, message = ok and "the server has ended" or tostring(sent) })
    end
  end
  if left > 0 then
    is_waiting = true
    local timer = vim.defer_fn(wake, math.max(0, deadline - vim.uv.now()))
    coroutine.yield()
    if not timer:is_closing() then
      timer:close()
    end
  end
  return answers
end

---Ask them all, and again those who want it.
---@async
---@param requests odin.PeerRequest[]
---@param deadline integer
---@return table<odin.PeerRequest, odin.PeerAnswer> answers Without those that are late.
function M.ask(requests, deadline)
  local answers, left = {}, requests
  while #left > 0 do
    local told = ask_once(left, deadline)
    answers = vim.tbl_extend("force", answers, told)
    left = vim.tbl_filter(function(it)
      return told[it] and told[it].err and AGAIN[told[it].err.code] and vim.uv.now() < deadline
    end, left)
    if #left > 0 then
      sleep(LOOK_MS)
    end
  end
  return answers
end

---Let those of a buffer see what was changed and opened last: pyright answers the first question after a change from
---the text before it.
---@async
---@param buffers integer[]
---@param deadline integer
function M.catch_up(buffers, deadline)
  local requests, asked = {}, {}
  local touched = vim.tbl_extend("force", opened, changed)
  for _, bufnr in ipairs(buffers) do
    for _, client in ipairs(M.of(bufnr)) do
      local newest, at = newest_of(client, touched)
      local method = vim.iter(BRIEF):find(function(it)
        return #vim.lsp.get_clients({ bufnr = newest, id = client.id, method = it }) > 0
      end)
      if newest and method and not asked[client.id] and vim.uv.now() - at < SEEN_MS then
        asked[client.id] = true
        local params = { textDocument = { uri = vim.uri_from_bufnr(newest) } }
        table.insert(requests, { client = client, method = method, params = params, bufnr = newest })
      end
    end
  end
  M.ask(requests, deadline)
end

---Tell all of files that have come, changed or gone: on Linux Neovim does not watch for them.
---@param changes { uri: string, type: integer }[]
function M.tell_of_files(changes)
  for _, client in ipairs(#changes > 0 and vim.lsp.get_clients() or {}) do
    if client.name ~= ODIN and not client.rpc.is_closing() then
      compat.notify(client, "workspace/didChangeWatchedFiles", { changes = changes })
    end
  end
end

return M
