-- What goes on, begins and is kept.

local completion = require("odin.commands.completion")
local roots = require("odin.client.roots")

local ACTIONS = { "new", "earlier", "search", "fork", "rename", "export", "delete" }

---The last turn goes on in the chat; after a start of Neovim, that of the last session.
local function go_on()
  local here = roots.of(0)
  local chat = require("odin.chat").of_root(here)
  require("odin.chat").open(here, { enter = false })
  if chat.session then
    chat:go_on()
    return
  end
  require("odin.session.sessions").resume(here, nil, function()
    chat:go_on()
  end)
end

---@type odin.Command[]
return {
  {
    name = "OdinSessions",
    args = "[new|earlier|search|fork|rename|export|delete]",
    desc = "Go on with an earlier session; the chat shows what has happened in it. Begin a new one. Show what comes "
      .. "before the first message in the chat. Search what was asked and answered. Go on with a fork of the session, "
      .. "rename it, export it to a file, or delete one of the sessions.",
    run = function(args)
      require("odin.session.sessions").act(roots.of(0), args.args)
    end,
    opts = { nargs = "?", complete = completion.among(ACTIONS) },
  },
  {
    name = "OdinContinue",
    args = "",
    desc = "Send the messages that wait since a turn was canceled. If none waits: go on with the last turn where it "
      .. "was cut off or has failed. Nothing is said or read again.",
    run = go_on,
    opts = {},
  },
  {
    name = "OdinNote",
    args = "[text]",
    desc = "Add a note to the session. The model reads it with your next message.",
    run = function(args)
      require("odin.session.upkeep").note(roots.of(0), args.args)
    end,
    opts = { nargs = "*" },
  },
  {
    name = "OdinRemoveLast",
    args = "",
    desc = "Remove the last message from what the model reads: its answer, or what you said or noted after it. "
      .. "`:OdinContinue` then asks for another answer.",
    run = function()
      require("odin.session.upkeep").remove_last(roots.of(0))
    end,
    opts = {},
  },
  {
    name = "OdinCompact",
    args = "[focus]",
    desc = "Replace the older messages of the session by a summary. The focus says what it should keep above all; "
      .. "without one you are asked, and may leave it empty.",
    run = function(args)
      require("odin.session.upkeep").compact(roots.of(0), args.args)
    end,
    opts = { nargs = "*" },
  },
  {
    name = "OdinClear",
    args = "",
    desc = "Clear the session, after a question: its messages and todos are forgotten, files stay as they are. You "
      .. "cannot undo this. With ! you are not asked.",
    run = function(args)
      require("odin.session.upkeep").clear(roots.of(0), args.bang)
    end,
    opts = { bang = true },
  },
}
