-- The sessions of a root: choose one and go on with it, or with a copy; find, rename, export and delete them.

local pick = require("odin.pick")
local request = require("odin.client.request")
local words = require("odin.words")

local M = {}

---How many events are read at once, at least.
M.PAGE = 500

---@param root string
---@param action string As `:OdinSessions` takes it.
function M.act(root, action)
  local acts = {
    new = M.begin,
    earlier = M.show_earlier,
    search = M.search,
    fork = M.fork,
    rename = M.rename,
    export = M.export,
    delete = M.delete,
  }
  local act = acts[action] or M.choose
  act(root)
end

---@param root string
function M.choose(root)
  M.pick(root, {}, "Continue a session", function(session)
    M.enter(root, session.sessionId)
  end)
end

---@private
---@param root string
function M.search(root)
  require("odin.screen").ask("Search messages and answers:", function(query)
    if query and vim.trim(query) ~= "" then
      M.pick(root, { query = vim.trim(query) }, "Sessions with " .. query, function(session)
        M.enter(root, session.sessionId)
      end)
    end
  end)
end

---@private
---@param root string
---@param wanted { query?: string }
---@param prompt string
---@param use fun(session: odin.SessionSummary)
function M.pick(root, wanted, prompt, use)
  request.execute(root, "session.list", wanted, function(result)
    if #result.sessions == 0 then
      words.say(wanted.query and "no session contains these words" or "no sessions yet")
      return
    end
    pick.from(result.sessions, {
      prompt = prompt,
      kind = "session",
      line = function(session)
        local when = os.date("%Y-%m-%d %H:%M", math.floor(session.updatedAt))
        return ("%s  %s%s"):format(when, session.title, session.locked and " (in use elsewhere)" or "")
      end,
      preview = function(session)
        local parts = { "# " .. session.title, session.firstMessage, session.excerpt or "" }
        table.insert(parts, words.count(session.messages, "message"))
        return table.concat(words.said(parts), "\n\n")
      end,
    }, use)
  end)
end

---Go on with a session, in the prompt.
---@private
---@param root string
---@param id string
function M.enter(root, id)
  M.resume(root, id, function()
    require("odin.chat").open(root, { enter = true })
  end)
end

---Go on with a copy of the session.
---@private
---@param root string
function M.fork(root)
  request.execute(root, "session.fork", { sessionId = require("odin.chat").of_root(root).session }, function(session)
    M.enter(root, session.sessionId)
    words.say_briefly({ ("continuing in the fork “%s”"):format(session.title), "continuing in a fork" })
  end)
end

---@private
---@param root string
function M.rename(root)
  require("odin.screen").ask("Title of the session:", function(title)
    if title and vim.trim(title) ~= "" then
      local argument = { sessionId = require("odin.chat").of_root(root).session, title = vim.trim(title) }
      request.execute(root, "session.rename", argument, function(session)
        words.say_briefly({ ("renamed the session to “%s”"):format(session.title), "renamed the session" })
      end)
    end
  end)
end

---@private
---@param root string
function M.export(root)
  local about = { prompt = "Export the session as", kind = "format" }
  pick.from({ "markdown", "html", "json" }, about, function(format)
    local argument = { sessionId = require("odin.chat").of_root(root).session, format = format }
    request.execute(root, "session.export", argument, function(exported)
      local file = vim.uri_to_fname(exported.uri)
      words.say_briefly({ "exported the session to " .. file, "exported the session to " .. vim.fs.basename(file) })
    end)
  end)
end

---@private
---@param root string
function M.delete(root)
  M.pick(root, {}, "Delete which session?", function(session)
    local prompt = ("Delete session “%s” permanently?"):format(session.title)
    pick.from({ "Delete", "Cancel" }, { prompt = prompt, kind = "confirm" }, function(choice)
      if choice == "Delete" then
        request.execute(root, "session.delete", { sessionId = session.sessionId, confirm = true }, function()
          words.say("deleted the session")
          if require("odin.chat").of_root(root).session == session.sessionId then
            M.begin(root)
          end
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
  request.execute(root, "review.list", {}, function()
    request.execute(root, "session.resume", { sessionId = id }, function(session)
      M.show(root, session.sessionId, done)
      require("odin.chat").of_root(root).title = session.title
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
  request.execute(root, "session.new", {}, function(session)
    M.show(root, session.sessionId, function()
      require("odin.chat").open(root, { enter = true })
    end)
  end)
end

---Have the chat tell what has happened in a session, and then what happens meanwhile.
---@param root string
---@param id string
---@param done? fun()
function M.show(root, id, done)
  local awaited = require("odin.chat").of_root(root):await(id)
  ---@param use fun(chat: odin.Chat, ...)
  local function unless_late(use)
    return function(...)
      local chat = require("odin.chat").of_root(root)
      if chat:is_awaiting(awaited) then
        use(chat, ...)
      end
    end
  end
  local go_on = unless_late(function(chat)
    chat:go_on_hearing()
  end)
  local restore = unless_late(function(chat, page, client)
    chat:restore(page, client.id)
    local settle = unless_late(function(_, state)
      chat.is_compacting = state.compacting
      chat:restore_queue(state.queue)
      chat:go_on_hearing()
    end)
    request.execute(root, "state", { sessionId = id }, settle, go_on)
    if done then
      done()
    end
  end)
  request.execute(root, "session.events", { sessionId = id, limit = M.PAGE }, restore, go_on)
end

---Have it tell what comes before that.
---@param root string
function M.show_earlier(root)
  local chat = require("odin.chat").of_root(root)
  local before = chat.before
  if not before then
    words.say("no earlier messages")
    return
  end
  local wanted = { sessionId = chat.session, before = before, limit = M.PAGE }
  request.execute(root, "session.events", wanted, function(page)
    if chat.before == before then
      chat:restore_earlier(page)
    end
  end)
end

return M
