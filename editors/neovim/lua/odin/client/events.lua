-- Each event goes to the chat, to the review, and to whoever listens to `User Odin…`.

local M = {}

---What is to be done about an event besides telling it.
---@type table<string, fun(event: table, record: odin.EventRecord, client: vim.lsp.Client, chat: odin.Chat)>
M.ACTS = {
  reviewOpened = function(event, record, client, chat)
    require("odin.review").open(event.proposal, client, chat.turn ~= record.turnId)
  end,
  reviewChanged = function(event)
    require("odin.review").change(event.proposalId, event.hunks)
  end,
  reviewClosed = function(event)
    require("odin.review").close(event.proposalId)
  end,
  questionAnswered = function(event, _, client)
    require("odin.chat.question").forget(client.id, event.questionId)
  end,
  turnFinished = function(_, _, client)
    require("odin.chat.question").forget(client.id)
  end,
}

---What neither the chat nor the review takes notice of, and why.
---@type table<string, string>
M.IGNORED = {
  modelStatusChanged = "which keys rest is of no use to somebody who writes code",
  serversChanged = "the list of extensions asks when it is opened, and `User OdinServersChanged` tells others",
  requestProgress = "how much has come of an answer is seen by what comes of it",
  requestStarted = "`activityChanged` says that Odin waits",
  sessionBegun = "the chat follows the session of its own commands",
  thinkingFinished = "`messageFinished` says how long it took",
  thinkingStarted = "`thinkingStreamed` follows",
  trustChanged = "what trust changes is told by what comes of it",
  turnEdited = "only another front end changes a message of this one, and its answer shows it",
  sessionSwitchStarted = "`sessionRestored` follows",
}

---@param record odin.EventRecord
---@param client_id integer
function M.take(record, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client then
    return
  end
  local kind = record.event.kind
  local chat = require("odin.chat").of_root(require("odin.client.roots").of_client(client.config))
  if not chat:hear(record, client_id) then
    return
  end
  if M.ACTS[kind] then
    M.ACTS[kind](record.event, record, client, chat)
  end
  M.announce(kind, record)
end

---@param kind string
---@param data any
function M.announce(kind, data)
  local name = "Odin" .. kind:sub(1, 1):upper() .. kind:sub(2)
  vim.api.nvim_exec_autocmds("User", { pattern = name, modeline = false, data = data })
end

return M
