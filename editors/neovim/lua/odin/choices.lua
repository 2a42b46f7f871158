-- What the user decides for a project, and can look up: model, role, trust, approvals, and what would be sent.

local pick = require("odin.pick")
local request = require("odin.client.request")
local screen = require("odin.screen")
local words = require("odin.words")

local M = {}

local AS_CONFIGURED = "settings"
local SCOPES = { session = "in this session", workspace = "in this workspace", always = "everywhere" }

---Those that are known now. Accounts are asked beside that, so the next time there may be more.
---@param root string
---@return string[]
function M.models(root)
  local state = request.glance(root, "model", { askAccounts = "beside" })
  local found = {}
  for _, it in ipairs(state and M.model_items(state) or {}) do
    table.insert(found, it.model)
    for _, effort in ipairs(it.efforts) do
      table.insert(found, it.model .. "@" .. effort)
    end
  end
  return found
end

---One for each model: those that Odin knows, then what accounts have besides.
---@private
---@param state odin.ModelState
---@return { model: string, about: string, efforts: string[] }[]
function M.model_items(state)
  local items, known = {}, {}
  for _, model in ipairs(state.available) do
    known[model] = true
    table.insert(items, { model = model, about = "", efforts = state.efforts[model] or {} })
  end
  for _, account in ipairs(state.accounts or {}) do
    for _, it in ipairs(account.models or {}) do
      if not known[it.ref] then
        known[it.ref] = true
        local about = words.said({ it.title or "", "in your account at " .. account.title })
        table.insert(items, { model = it.ref, about = table.concat(about, ", "), efforts = {} })
      end
    end
  end
  return items
end

---Choose one from a list. What is known shows at once; its last lines ask the accounts.
---@param root string
---@param asking? "wait"|"anew"
function M.pick_model(root, asking)
  request.execute(root, "model", asking and { askAccounts = asking } or {}, function(state)
    local items = M.model_items(state)
    for _, account in ipairs(state.accounts or {}) do
      if (account.problem or "") ~= "" then
        table.insert(items, { about = ("%s lists no models: %s"):format(account.title, account.problem) })
      end
    end
    table.insert(items, { about = state.accounts and "Ask your accounts again" or "Ask your accounts for more" })
    pick.from(items, {
      prompt = "Select a model",
      kind = "model",
      line = function(it)
        local selected = it.model and it.model == state.model and it.model .. " (selected)"
        return table.concat(words.said({ selected or it.model or "", it.about }), " · ")
      end,
    }, function(it)
      if it.model then
        M.choose_model(root, it.model)
      else
        words.say("your accounts are being asked for their models")
        M.pick_model(root, state.accounts and "anew" or "wait")
      end
    end)
  end)
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
---@param decision "ask"|"restrict"
function M.decide_trust(root, decision)
  request.execute(root, "trust", { decision = decision }, function(result)
    local told = result.trusted and "is trusted" or "can only tighten your settings"
    words.say("what this workspace brings " .. told)
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

---How an MCP server is, with its attempts to start if it was not the first.
---@param it odin.Listed
---@return string
local function running_of(it)
  if it.state ~= "on" or not it.running then
    return ""
  end
  local again = it.running ~= "ready" and (it.attempt or 1) > 1
  return ", " .. it.running .. (again and (" (attempt %d of %d)"):format(it.attempt, it.maxAttempts) or "")
end

local NOT_USED = {
  untrusted = "not used: you have not agreed to it",
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
        local state = (NOT_USED[it.state] or it.state) .. running_of(it)
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
---@param exact? boolean The provider counts it.
function M.show_context(root, exact)
  local about = { sessionId = require("odin.chat").of_root(root).session, exact = exact }
  request.execute(root, "context", about, function(preview)
    local bufnr = require("odin.chat.window").buffer("context", root)
    vim.bo[bufnr].bufhidden = "wipe"
    screen.put(bufnr, 0, -1, M.context_report(preview))
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
    ("- tokens: %d of %d"):format(preview.tokens, preview.contextLimit) .. M.count(preview),
    ("- cost of the request: $%.4f, or $%.4f if the provider has it cached"):format(
      preview.costUsd,
      preview.cachedCostUsd
    ),
    ("- after a switch between Edit and another mode: $%.4f"):format(preview.switchedCostUsd),
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

---What the provider has counted, or why it has not; nothing if nobody asked.
---@private
---@param preview odin.ContextPreview
---@return string
function M.count(preview)
  if preview.counted then
    return (", counted by the provider: %d"):format(preview.counted)
  end
  return preview.notCounted and (", counted by the provider: none (%s)"):format(preview.notCounted) or ""
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
