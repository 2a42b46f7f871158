-- Earlier sessions of a root: choose one and go on with it.

local server = require("odin.server")

local M = {}

---@param root string
function M.choose(root)
  server.execute(root, "session.list", {}, function(result)
    if #result.sessions == 0 then
      server.say("there are no sessions yet")
      return
    end
    vim.ui.select(result.sessions, {
      prompt = "Odin's sessions",
      format_item = function(session)
        local when = os.date("%Y-%m-%d %H:%M", math.floor(session.updatedAt))
        return ("%s  %s%s"):format(when, session.title, session.locked and " (in use elsewhere)" or "")
      end,
    }, function(session)
      if session then
        server.execute(root, "session.resume", { sessionId = session.sessionId }, function(resumed)
          M.show(root, resumed)
        end)
      end
    end)
  end)
end

---The chat goes on with a session from here; what was said in it so far is shown.
---@param root string
---@param session odin.Session
function M.show(root, session)
  local chat = require("odin.chat").of_root(root)
  local written = vim.uri_to_fname(session.uri)
  chat.session = session.sessionId
  chat.transcript:append(vim.fn.filereadable(written) == 1 and vim.fn.readfile(written) or { "# New session" })
  require("odin.chat").open(root, { enter = true })
end

return M
