-- What holds for a project, and its server.

local completion = require("odin.commands.completion")
local roots = require("odin.client.roots")

---@param name "models"|"roles"
local function complete_choices(name)
  return function(lead)
    return completion.among(require("odin.choices")[name](roots.of(0)))(lead)
  end
end

---@type odin.Command[]
return {
  {
    name = "OdinModel",
    args = "[provider/model[@effort]]",
    desc = "Tell which model is used, or choose one, which is remembered for this project. `@low`, `@medium` or "
      .. "`@high` says how hard it should think. `settings` goes back to the model of the settings.",
    run = function(args)
      require("odin.choices").choose_model(roots.of(0), args.args)
    end,
    opts = { nargs = "?", complete = complete_choices("models") },
  },
  {
    name = "OdinRole",
    args = "[role]",
    desc = "Switch to another role: its prompt, models, tools and rules apply from the next message on. Without a "
      .. "name, choose one.",
    run = function(args)
      require("odin.choices").choose_role(roots.of(0), args.args)
    end,
    opts = { nargs = "?", complete = complete_choices("roles") },
  },
  {
    name = "OdinPermissions",
    args = "",
    desc = "List what you have allowed, in this session or for good. The approval that you choose is removed.",
    run = function()
      require("odin.choices").manage_approvals(roots.of(0))
    end,
    opts = {},
  },
  {
    name = "OdinExtensions",
    args = "",
    desc = "List skills, commands, agents, hooks and MCP servers, and why one is not used. The one that you choose is "
      .. "switched off or on until Odin ends, or its file is opened.",
    run = function()
      require("odin.choices").extensions(roots.of(0))
    end,
    opts = {},
  },
  {
    name = "OdinTrust",
    args = "[restrict]",
    desc = "Trust the workspace's own `odinconfig.json` as it is now. With `restrict` it can only restrict.",
    run = function(args)
      require("odin.choices").decide_trust(roots.of(0), args.args == "restrict" and "restrict" or "trust")
    end,
    opts = { nargs = "?", complete = completion.among({ "restrict" }) },
  },
  {
    name = "OdinContext",
    args = "",
    desc = "Show what the next message would send to the model, word for word: instructions, tools and messages, with "
      .. "their tokens and their cost.",
    run = function()
      require("odin.choices").show_context(roots.of(0))
    end,
    opts = {},
  },
  {
    name = "OdinRestart",
    args = "",
    desc = "Start the server again. The chat goes on with its session, as it was kept.",
    run = function()
      require("odin.client.life").restart(roots.of(0))
    end,
    opts = {},
  },
}
