-- Everything that a server may send, with hostile text in every field of it, through the plugin's own handlers: what
-- Neovim would show of it is written as JSON to stdout. `nvim -l hostile_walk.lua PLUGIN VALUES`.

local plugin, file = _G.arg[1], _G.arg[2]
vim.opt.runtimepath:prepend(plugin)
vim.cmd.runtime("plugin/odin.lua")
vim.o.columns, vim.o.lines = 120, 40
local WAIT_MS = 5000
local ROOT = vim.fs.normalize(vim.fn.getcwd())

local handle = assert(io.open(file))
local values = vim.json.decode(handle:read("*a"), { luanil = { object = true } })
handle:close()
local texts = values.texts

local function filled(value)
  if type(value) == "string" then
    local number = value:match("^@(%d)$")
    return number and texts[number + 1] or value
  elseif type(value) == "table" then
    local result = vim.islist(value) and {} or vim.empty_dict()
    for key, it in pairs(value) do
      result[filled(key)] = filled(it)
    end
    return result
  end
  return value
end
values = filled(values)

-- What is shown, by where.
local shown = { problems = {}, asked = 0, questions = #values.questions }
local function note(where, text)
  shown[where] = shown[where] or {}
  table.insert(shown[where], text)
end
local function attempt(what, run, ...)
  local ok, problem = xpcall(run, debug.traceback, ...)
  if not ok then
    table.insert(shown.problems, what .. ": " .. tostring(problem))
  end
end

vim.notify = function(text)
  note("messages", text)
end
local echo = vim.api.nvim_echo
vim.api.nvim_echo = function(chunks, ...)
  for _, it in ipairs(chunks) do
    note("messages", it[1])
  end
  return echo(chunks, ...)
end
local choose, waits
local function look_at_choice(items, about)
  note("prompts", about.prompt)
  for _, item in ipairs(items) do
    note("items", about.format_item(item))
    local preview = about.preview_item and about.preview_item(item).buf
    for _, line in ipairs(preview and vim.api.nvim_buf_get_lines(preview, 0, -1, false) or {}) do
      note("previews", line)
    end
  end
end
vim.ui.select = function(items, about, chosen)
  attempt("select", look_at_choice, items, about)
  waits = chosen
  chosen(choose and choose(items) or nil)
end
vim.ui.input = function(about, typed)
  note("prompts", about.prompt)
  waits = typed
  typed(nil)
end

-- A server that answers what it is told to.
local client = {
  id = 1,
  name = "odin",
  offset_encoding = "utf-16",
  config = { root_dir = ROOT },
  server_capabilities = {},
  stop = function() end,
  attached_buffers = {},
  rpc = {
    is_closing = function()
      return false
    end,
  },
}
vim.lsp.get_client_by_id = function()
  return client
end
vim.lsp.get_clients = function()
  return { client }
end
vim.lsp.buf_attach_client = function()
  return true
end
local answering
require("odin.client.compat").request = function(_, method, params, handler)
  if method == "textDocument/codeLens" then
    local command = { title = texts[1], command = "odin.plan.mark", arguments = { { uri = "file:///a.plan.md" } } }
    handler(nil, { { range = { start = { line = 1, character = 0 } }, command = command } })
  elseif answering == "fail" then
    handler({ code = -32603, message = texts[1] }, nil)
  elseif answering and answering[params.command] then
    handler(nil, answering[params.command])
  end
  return true
end

local handlers = require("odin.client.handlers")
local chat = require("odin.chat").of_root(ROOT)
vim.b.odin_root = ROOT
require("odin.chat").open(ROOT, { enter = false })
chat.session = "s"
local sequence = 0
local function send(record)
  sequence = sequence + 1
  record.seq = sequence
  record.sessionId = "s"
  handlers["odin/event"](nil, record, { client_id = 1 })
end

---Files are named by addresses, which the server makes: what strangers choose is the name in it.
local function addressed(review)
  for _, it in ipairs(review.files) do
    for _, key in ipairs({ "uri", "newUri" }) do
      it[key] = it[key] and vim.uri_from_fname((ROOT .. "/" .. it[key]:sub(1, 200):gsub("%z", "")))
    end
  end
  return review
end

local function look_at_windows()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    for _, piece in ipairs(vim.api.nvim_win_get_config(window).title or {}) do
      note("titles", piece[1])
    end
    for _, option in ipairs({ "winbar", "statusline" }) do
      local format = vim.wo[window][option]
      if format ~= "" then
        note("bars", vim.api.nvim_eval_statusline(format, { winid = window, maxwidth = 4000 }).str)
      end
    end
  end
end

local function look_at_marks(bufnr)
  for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(bufnr, -1, 0, -1, { details = true })) do
    for _, line in ipairs(vim.list_extend({ mark[4].virt_text }, mark[4].virt_lines or {})) do
      for _, chunk in ipairs(line) do
        note("virtual", chunk[1])
      end
    end
  end
end

---What people edit or take as it is stays exact.
local function is_exact(name)
  return name:find("^odin://create/") or name:find("^odin://proposed/") or name:find("^odin://prompt/")
end

local function look()
  look_at_windows()
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(bufnr)
    if vim.startswith(name, "odin:") then
      note("names", name)
    end
    look_at_marks(bufnr)
    if vim.api.nvim_buf_is_loaded(bufnr) and not is_exact(name) then
      for _, line in ipairs(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)) do
        note("lines", line)
      end
    end
  end
  for _, it in ipairs(vim.fn.getqflist()) do
    note("list", it.text)
    note("list", it.module)
  end
end

for number, record in ipairs(values.events) do
  local kind = record.event.kind
  record.turnId = "t" .. number
  if record.event.proposal then
    addressed(record.event.proposal)
  end
  if kind ~= "turnStarted" then
    send({
      turnId = record.turnId,
      agentId = "main",
      event = { kind = "turnStarted", mode = "ask_mode", model = "m", text = "" },
    })
  end
  local before = #(shown.messages or {})
  attempt(kind, send, record)
  attempt(kind .. " seen", look_at_windows)
  note("told", { kind, #(shown.messages or {}) - before })
end
vim.wait(50, function() end)
attempt("looking", look)

for number, question in ipairs(values.questions) do
  waits = nil
  local answered = coroutine.wrap(function()
    attempt("question " .. number, handlers["odin/question"], nil, question, { client_id = 1 })
  end)
  answered()
  local is_asked = vim.wait(WAIT_MS, function()
    return waits ~= nil
  end)
  shown.asked = shown.asked + (is_asked and 1 or 0)
  attempt("question seen", look)
  vim.wait(WAIT_MS, function()
    return not require("odin.chat.question").waits()
  end)
end

-- What is asked stands there until it is answered.
for number, question in ipairs(values.questions) do
  local window = require("odin.chat.question").show(question)
  local title = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, 1, false)[1]
  note("questionTitles", title)
  attempt("question " .. number .. " shown", look)
  vim.api.nvim_win_close(window, true)
end

for number, review in ipairs(values.reviews) do
  review.proposalId = "review" .. number
  addressed(review)
  for index, it in ipairs(review.files) do
    it.operation = ({ "create", "edit", "rename", "delete" })[(number + index) % 4 + 1]
    for place, hunk in ipairs(it.hunks) do
      hunk.id, hunk.state = ("hunk%d-%d-%d"):format(number, index, place), "pending"
    end
  end
  coroutine.wrap(function()
    attempt("review " .. number, handlers["odin/review"], nil, review, { client_id = 1 })
  end)()
  for _, it in ipairs({ "next", "previous", "list", "pick", "diff" }) do
    attempt("OdinReview " .. it, vim.cmd, "OdinReview " .. it)
    attempt("review seen", look)
  end
  vim.cmd("silent! tabonly")
  attempt("review closed", require("odin.review").close, review.proposalId)
end

local COMMANDS = {
  "OdinModel", "OdinRole", "OdinTrust", "OdinTrust restrict", "OdinPermissions", "OdinExtensions", "OdinContext",
  "OdinSessions", "OdinSessions delete", "OdinSessions rename", "OdinSessions fork", "OdinSessions export",
  "OdinCompact", "OdinUndo", "OdinComments", "OdinSteps", "OdinNote x", "OdinSteer x",
}
choose = function(items)
  return items[1]
end
local input = vim.ui.input
vim.ui.input = function(about, typed)
  input(about, function() end)
  typed("words")
end
local _, some = next(values.answers)
for choice = 1, #(some or {}) do
  answering = {}
  for name, answers in pairs(values.answers) do
    answering[name] = answers[choice]
  end
  local exported = answering["odin.session.export"]
  exported.uri = vim.uri_from_fname((ROOT .. "/" .. texts[choice]:gsub("%z", "")))
  for _, command in ipairs(COMMANDS) do
    attempt(command, vim.cmd, command)
    vim.wait(20, function() end)
    attempt(command .. " seen", look)
  end
  vim.cmd("silent! only!")
end

answering = "fail"
for _, command in ipairs(COMMANDS) do
  attempt(command, vim.cmd, command)
end

-- The same rules as the server's: what is made of each text here.
shown.rules = vim.tbl_map(function(text)
  local display = require("odin.display")
  return { display.text(text), display.line(text), display.exact(text) }
end, texts)

io.stdout:write(vim.json.encode(shown))
os.exit(0)
