-- Odin's commands, and what they answer.

local compat = require("odin.client.compat")
local life = require("odin.client.life")
local words = require("odin.words")

local M = {}

local GLANCE_MS = 1000

---Run one of Odin's commands; `done` gets its result. What goes wrong is said to the user.
---@param root string
---@param command string
---@param argument table<string, any>
---@param done? fun(result: any, client: vim.lsp.Client)
---@param failed? fun(message: string)
function M.execute(root, command, argument, done, failed)
  if not next(argument) then
    argument = vim.empty_dict()
  end
  life.with_client(root, function(client)
    local params = { command = "odin." .. command, arguments = { argument } }
    local sent = compat.request(client, "workspace/executeCommand", params, function(err, result)
      if err then
        words.say(err.message, vim.log.levels.ERROR)
        if failed then
          failed(err.message)
        end
      elseif done then
        done(result, client)
      end
    end)
    if not sent then
      local message = "the server stopped; :OdinRestart restarts it"
      words.say(message, vim.log.levels.ERROR)
      if failed then
        failed(message)
      end
    end
  end)
end

---What a command answers, for completion: only from a server that runs, and answers at once.
---@param root string
---@param command string
---@param argument? table<string, any>
---@return any? result
function M.glance(root, command, argument)
  local client = life.clients(root)[1]
  if not client then
    return nil
  end
  local is_answered, answer = false, nil
  local params = { command = "odin." .. command, arguments = { argument or vim.empty_dict() } }
  compat.request(client, "workspace/executeCommand", params, function(_, result)
    is_answered, answer = true, result
  end)
  vim.wait(GLANCE_MS, function()
    return is_answered
  end, 5)
  return answer
end

return M
