local status = require("odin.session.status")

---@param fields table<string, any>
---@return odin.Chat
local function chat(fields)
  local it = {
    activity = "idle",
    queued = {},
    story = {
      is_empty = function()
        return fields.is_new or false
      end,
    },
    has_waiting = function(self)
      return not self.turn and #self.queued > 0
    end,
  }
  return vim.tbl_extend("force", it, fields)
end

return {
  ["a new session says so"] = function()
    equals(status.bar(chat({ is_new = true })), "Odin: new session")
  end,
  ["title, model, role, activity and cost stand above the chat"] = function()
    local it = chat({
      title = "Greet",
      model = "anthropic/claude",
      role = "planner",
      turn = "t",
      mode = "edit_mode",
      activity = "waiting_token",
      usage = { inputTokens = 1, outputTokens = 2, costUsd = 0.5 },
    })
    local bar = "Odin: Greet · anthropic/claude · planner · edit: waiting token · 1 token in, 2 out · $0.5000"
    equals(status.bar(it), bar)
  end,
  ["what is too long for the window is left out, and not what happens"] = function()
    local it = chat({
      model = "anthropic/claude",
      turn = "t",
      mode = "edit_mode",
      activity = "executing",
      usage = { inputTokens = 1, outputTokens = 2, costUsd = 0.5 },
    })
    equals(status.bar(it, 44), "Odin · claude · edit: executing · $0.5000")
    equals(status.bar(it, 33), "Odin · edit: executing · $0.5000")
    equals(status.bar(it, 9), "Odin · edit: executing")
  end,
  ["the usual role goes without saying"] = function()
    equals(status.bar(chat({ role = "builder", model = "m" })), "Odin · m")
  end,
  ["messages are queued behind a turn, and wait without one"] = function()
    equals(status.activity(chat({ turn = "t", queued = { "a" } })), "1 queued")
    equals(status.activity(chat({ queued = { "a", "b" } })), "2 waiting")
  end,
  ["nothing is told while nothing happens"] = function()
    equals(status.activity(chat({})), "")
  end,
}
