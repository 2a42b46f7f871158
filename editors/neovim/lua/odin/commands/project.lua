-- What holds for a project, and its server.

local roots = require("odin.client.roots")

---@param name "models"|"roles"
local function among(name)
  return function(lead)
    return vim.tbl_filter(function(it)
      return vim.startswith(it, lead)
    end, require("odin.choices")[name](roots.of(0)))
  end
end

---@type odin.Command[]
return {
  {
    name = "OdinModel",
    args = { "{provider/model}[@{effort}]", "settings" },
    complete = among("models"),
    bang = true,
    desc = "Show the current model, or select one for this workspace. Append `@low`, `@medium` or `@high` to set the "
      .. "effort. `settings` returns to the model from your settings. With !, select one from a list, which also shows "
      .. "what your accounts have.",
    run = function(args)
      if args.bang and args.args == "" then
        require("odin.choices").pick_model(roots.of(0))
      else
        require("odin.choices").choose_model(roots.of(0), args.args)
      end
    end,
  },
  {
    name = "OdinRole",
    args = { "{role}" },
    complete = among("roles"),
    desc = "Switch to another role: its prompt, models, tools and rules apply from the next message on. Without "
      .. "{role}, select one.",
    run = function(args)
      require("odin.choices").choose_role(roots.of(0), args.args)
    end,
  },
  {
    name = "OdinPermissions",
    desc = "List your approvals, those of this session and saved ones. The one that you select is removed.",
    run = function()
      require("odin.choices").manage_approvals(roots.of(0))
    end,
  },
  {
    name = "OdinExtensions",
    desc = "List skills, commands, subagents, hooks and MCP servers, and why one is not used. The one that you select "
      .. "is switched off or on until Odin stops, or its file opens.",
    run = function()
      require("odin.choices").extensions(roots.of(0))
    end,
  },
  {
    name = "OdinTrust",
    args = { "restrict" },
    desc = "Show what the workspace brings (settings, hooks, MCP servers, skills), and trust it in this version. "
      .. "Programs and servers run only if you agree to each. With `restrict`, it can tighten your settings but not "
      .. "loosen them.",
    run = function(args)
      require("odin.choices").decide_trust(roots.of(0), args.args == "restrict" and "restrict" or "ask")
    end,
  },
  {
    name = "OdinContext",
    bang = true,
    desc = "Show what the next message would send to the model, word for word: instructions, tools and messages, with "
      .. "their tokens and cost. With !, your provider counts the tokens exactly.",
    run = function(args)
      require("odin.choices").show_context(roots.of(0), args.bang)
    end,
  },
  {
    name = "OdinRestart",
    desc = "Restart the server. The chat continues its session.",
    run = function()
      require("odin.client.life").restart(roots.of(0))
    end,
  },
}
