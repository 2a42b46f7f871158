-- What goes on, begins and is kept.

local roots = require("odin.client.roots")

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
    args = { "new", "earlier", "search", "fork", "rename", "export", "delete" },
    desc = "Select a session and continue it; the chat shows it. `new` starts a session. `earlier` shows the messages "
      .. "before the first one in the chat. `search` finds sessions by their messages and answers. `fork` continues in "
      .. "a fork of the session. `rename` and `export` are for this session, `delete` for one that you select.",
    run = function(args)
      require("odin.session.sessions").act(roots.of(0), args.args)
    end,
  },
  {
    name = "OdinContinue",
    desc = "Send the messages that wait since a turn was canceled. If none waits, continue the last turn where it was "
      .. "cut off or failed. Nothing is repeated.",
    run = go_on,
  },
  {
    name = "OdinNote",
    args = { "{text}" },
    desc = "Add a note to the session. The model reads it with your next message.",
    run = function(args)
      require("odin.session.upkeep").note(roots.of(0), args.args)
    end,
  },
  {
    name = "OdinRemoveLast",
    desc = "Remove the last message from what the model reads: its answer, or your message or note after it. "
      .. "`:OdinContinue` then asks for another answer.",
    run = function()
      require("odin.session.upkeep").remove_last(roots.of(0))
    end,
  },
  {
    name = "OdinCompact",
    args = { "{focus}" },
    desc = "Replace the older messages of the session with a summary. {focus} is what the summary should keep above "
      .. "all. Without it, Odin prompts for it; you can leave it empty.",
    run = function(args)
      require("odin.session.upkeep").compact(roots.of(0), args.args)
    end,
  },
  {
    name = "OdinClear",
    bang = true,
    desc = "Delete the messages and todos of the session, after a question. Files stay as they are. You cannot undo "
      .. "this. With !, Odin does not ask.",
    run = function(args)
      require("odin.session.upkeep").clear(roots.of(0), args.bang)
    end,
  },
}
