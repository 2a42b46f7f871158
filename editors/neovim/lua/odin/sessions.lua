-- Earlier sessions of a root: choose one and go on with it.

local server = require("odin.server")

local M = {}

---How many events are read at once, at least.
M.PAGE = 500

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
        M.resume(root, session.sessionId, function()
          require("odin.chat").open(root, { enter = true })
        end)
      end
    end)
  end)
end

---Go on with a session from here. A server that has just been started looks first for what waits for the user: a turn
---that waits for it has not ended.
---@param root string
---@param id? string Without it: the last one.
---@param done? fun()
function M.resume(root, id, done)
  server.execute(root, "review.list", {}, function()
    server.execute(root, "session.resume", { sessionId = id }, function(session)
      M.show(root, session.sessionId, done)
    end)
  end)
end

---Go on with the chat's session after a start of the server; one that nothing was said in is gone.
---@param root string
function M.go_on(root)
  local chat = require("odin.chat").of_root(root)
  if chat.story:is_empty() then
    chat.session = nil
  else
    M.resume(root, chat.session)
  end
end

---Begin a session.
---@param root string
function M.begin(root)
  server.execute(root, "session.new", {}, function(session)
    M.show(root, session.sessionId, function()
      require("odin.chat").open(root, { enter = true })
    end)
  end)
end

---Have the chat tell what has happened in a session.
---@param root string
---@param id string
---@param done? fun()
function M.show(root, id, done)
  local chat = require("odin.chat").of_root(root)
  chat:await(id)
  server.execute(root, "session.events", { sessionId = id, limit = M.PAGE }, function(page, client)
    if chat.session ~= id then
      return -- another one is on its way
    end
    require("odin.chat").of_root(root):restore(page, client.id)
    server.execute(root, "state", { sessionId = id }, function(state)
      if chat.session == id then
        chat:restore_queue(state.queue)
      end
    end)
    if done then
      done()
    end
  end, function()
    chat:go_on_hearing()
  end)
end

---Have it tell what comes before that.
---@param root string
function M.show_earlier(root)
  local chat = require("odin.chat").of_root(root)
  local before = chat.before
  if not before then
    server.say("there is nothing before that")
    return
  end
  local wanted = { sessionId = chat.session, before = before, limit = M.PAGE }
  server.execute(root, "session.events", wanted, function(page)
    if chat.before == before then
      chat:restore_earlier(page)
    end
  end)
end

return M
