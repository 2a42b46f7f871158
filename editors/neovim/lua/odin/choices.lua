-- What the user decides for a project, and can look up: model, role, trust, approvals, and what would be sent.

local pick = require("odin.pick")
local request = require("odin.client.request")
local words = require("odin.words")

local M = {}

local AS_CONFIGURED = "settings"
local SCOPES = { session = "in this session", workspace = "in this workspace", always = "everywhere" }

---@param root string
---@return string[]
function M.models(root)
  local state = request.glance(root, "model")
  local found = {}
  for _, model in ipairs(state and state.available or {}) do
    table.insert(found, model)
    for _, effort in ipairs(state.efforts[model] or {}) do
      table.insert(found, model .. "@" .. effort)
    end
  end
  return found
end

---@param root string
---@param given string
function M.choose_model(root, given)
  local model = given ~= AS_CONFIGURED and given or ""
  request.execute(root, "model", given ~= "" and { model = model } or {}, function(result)
    words.say_briefly({
      ("model %s, small model %s"):format(result.model, result.smallModel),
      ("model %s"):format(result.model),
    })
  end)
end

---@param root string
---@return string[]
function M.roles(root)
  local state = request.glance(root, "role")
  return vim.tbl_map(function(it)
    return it.name
  end, state and state.roles or {})
end

---@param root string
---@param given string Without it the user chooses from a list.
function M.choose_role(root, given)
  if given ~= "" then
    M.switch_role(root, given)
    return
  end
  request.execute(root, "role", {}, function(state)
    pick.from(state.roles, {
      prompt = "Select a role",
      kind = "role",
      line = function(it)
        local name = it.name .. (it.name == state.role and " (selected)" or "")
        return table.concat(words.said({ name, it.description, table.concat(it.models, ", ") }), " · ")
      end,
    }, function(it)
      M.switch_role(root, it.name)
    end)
  end)
end

---@private
---@param root string
---@param role string
function M.switch_role(root, role)
  request.execute(root, "role", { role = role }, function(state)
    words.say(("the role is now %s"):format(state.role))
  end)
end

---@param root string
---@param decision "trust"|"restrict"
function M.decide_trust(root, decision)
  request.execute(root, "trust", { decision = decision }, function(result)
    local told = result.trusted and "are trusted" or "can only tighten your settings"
    words.say("the settings of this workspace " .. told)
  end)
end

---List what needs no question; the one that is chosen does again.
---@param root string
function M.manage_approvals(root)
  local session = require("odin.chat").of_root(root).session
  request.execute(root, "permissions", { sessionId = session }, function(result)
    if #result.allowed == 0 then
      words.say("no approvals")
      return
    end
    pick.from(result.allowed, {
      prompt = "Select an approval to remove",
      kind = "approval",
      line = function(it)
        local mode = it.mode:gsub("_mode", ""):gsub("^%l", string.upper)
        return ("%s (%s, in %s, %s, since %s)"):format(it.pattern, SCOPES[it.scope], mode, it.tool, it.since)
      end,
    }, function(it)
      request.execute(root, "permissions", { sessionId = session, action = "remove", id = it.id }, function()
        words.say_briefly({
          ("removed the approval of `%s`; Odin asks you again"):format(it.pattern),
          "removed the approval; Odin asks you again",
        })
      end)
    end)
  end)
end

local NOT_USED = {
  untrusted = "not used: this folder is not trusted",
  hidden = "not used: another one has this name",
}

---What is plugged in; the one that is chosen is switched, or its file is opened.
---@param root string
function M.extensions(root)
  request.execute(root, "extensions", {}, function(result)
    if #result.extensions == 0 then
      words.say("no skills, commands, subagents, hooks or MCP servers")
      return
    end
    pick.from(result.extensions, {
      prompt = "Select an extension to switch it or open its file",
      kind = "extension",
      line = function(it)
        local about = it.problem or it.description or ""
        local running = it.state == "on" and it.running and ", " .. it.running or ""
        local state = (NOT_USED[it.state] or it.state) .. running
        return ("%s %s (%s)%s"):format(it.kind, it.name, state, about ~= "" and ": " .. about or "")
      end,
      preview = function(it)
        local parts = { ("# %s %s"):format(it.kind, it.name), it.description or "", it.problem or "", it.source or "" }
        return table.concat(words.said(parts), "\n\n")
      end,
    }, function(it)
      if it.state == "on" or it.state == "off" then
        local on = it.state == "off"
        local argument = { action = on and "enable" or "disable", name = ("%s:%s"):format(it.kind, it.name) }
        request.execute(root, "extensions", argument, function()
          words.say(("%s %s is %s"):format(it.kind, it.name, on and "on" or "off"))
        end)
      else
        require("odin.chat.window").enter_code()
        vim.cmd.edit(vim.fn.fnameescape(it.source))
      end
    end)
  end)
end

---Show what the next message would send, in a window of its own.
---@param root string
function M.show_context(root)
  request.execute(root, "context", { sessionId = require("odin.chat").of_root(root).session }, function(preview)
    local bufnr = require("odin.chat.window").buffer("context", root)
    vim.bo[bufnr].bufhidden = "wipe"
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, M.context_report(preview))
    vim.bo[bufnr].modifiable = false
    require("odin.chat.window").enter_code()
    vim.cmd.split()
    vim.api.nvim_win_set_buf(0, bufnr)
  end)
end

---@private
---@param preview table<string, any>
---@return string[]
function M.context_report(preview)
  local lines = {
    "# What would be sent",
    "",
    "- model: " .. preview.model,
    ("- tokens: %d of %d"):format(preview.tokens, preview.contextLimit),
    ("- cost of the request: $%.4f, or $%.4f if the provider has it cached"):format(
      preview.costUsd,
      preview.cachedCostUsd
    ),
    ("- spent by the session: $%.4f"):format(preview.spent.costUsd or 0),
  }
  for index, it in ipairs(preview.instructions or {}) do
    vim.list_extend(lines, index == 1 and { "", "Instructions, in the order in which they apply:", "" } or {})
    table.insert(lines, ("- %s (%s, %s)"):format(it.path, it.of, words.count(it.tokens, "token")))
  end
  for index, it in ipairs(preview.files or {}) do
    vim.list_extend(lines, index == 1 and { "", "## Files that the model has seen", "" } or {})
    table.insert(lines, ("- %s: %s, %s"):format(it.path, it.isWhole and "all lines" or M.spans(it.seen), M.since(it)))
  end
  for _, part in ipairs(preview.parts) do
    local longest = 2
    for run in part.content:gmatch("`+") do
      longest = math.max(longest, #run)
    end
    local fence = ("`"):rep(longest + 1)
    local heading = ("## %s: %s (%s)"):format(part.kind, part.name, words.count(part.tokens, "token"))
    vim.list_extend(lines, { "", heading, "", fence })
    vim.list_extend(lines, words.lines(part.content))
    table.insert(lines, fence)
  end
  return lines
end

---@private
---@param spans { first: integer, last: integer }[]
---@return string
function M.spans(spans)
  local shown = vim.tbl_map(function(it)
    return it.first == it.last and it.first or ("%d–%d"):format(it.first, it.last)
  end, spans)
  return "lines " .. table.concat(shown, ", ")
end

---@private
---@param file table<string, any>
---@return string
function M.since(file)
  if #(file.changed or {}) > 0 then
    return "changed since: " .. M.spans(file.changed)
  end
  return file.isCurrent and "unchanged" or "moved since"
end

return M
