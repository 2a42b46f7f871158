-- Each event goes to the chat, to the review, and to whoever listens to `User Odin…`.

local M = {}

---@param record odin.EventRecord
---@param client_id integer
function M.take(record, client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  if not client then
    return
  end
  local kind = record.event.kind
  local chat = require("odin.chat").of_root(require("odin.server").root_in(client.config))
  if not chat:hear(record, client_id) then
    return
  end
  if kind == "reviewOpened" then
    require("odin.review").open(record.event.proposal, client, chat.turn ~= record.turnId)
  elseif kind == "reviewChanged" then
    require("odin.review").change(record.event.proposalId, record.event.hunks)
  elseif kind == "reviewClosed" then
    require("odin.review").close(record.event.proposalId)
  elseif kind == "questionAnswered" then
    require("odin.question").forget(client_id, record.event.questionId)
  elseif kind == "turnFinished" then
    require("odin.question").forget(client_id)
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
