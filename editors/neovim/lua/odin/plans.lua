-- Plans: their steps are run, skipped and ticked, by commands and by what the server offers above them.

local compat = require("odin.client.compat")
local life = require("odin.client.life")
local pick = require("odin.pick")
local request = require("odin.client.request")
local roots = require("odin.client.roots")
local words = require("odin.words")

local M = {}

local MARK = "<!-- A plan for Odin."
local PREVIEWED = 20

---@param bufnr integer
---@return boolean
function M.is_plan(bufnr)
  return vim.startswith(vim.api.nvim_buf_get_lines(bufnr, 0, 1, false)[1] or "", MARK)
end

---Show above the steps of a plan what can be done with them.
function M.attached(event)
  local client = vim.lsp.get_client_by_id(event.data.client_id)
  if client and client.name == life.NAME and M.is_plan(event.buf) then
    compat.show_lenses(event.buf)
  end
end

---What lenses do here, so that the chat shows it.
---@type table<string, fun(command: lsp.Command, context: { bufnr: integer })>
M.COMMANDS = {}
for _, name in ipairs({ "odin.executePlan", "odin.plan.mark", "odin.plan.refuse" }) do
  M.COMMANDS[name] = function(command, context)
    M.execute(roots.of(context.bufnr), command)
  end
end

---Run a plan: the one in the buffer, or else the last one that was made.
---@param bufnr integer
---@param steps integer[] Counted from 1; none: all that are open.
function M.run(bufnr, steps)
  local root = roots.of(bufnr)
  local uri = M.is_plan(bufnr) and vim.uri_from_bufnr(bufnr) or require("odin.chat").of_root(root).plan
  if not uri then
    words.say("no plan yet; :OdinPlan {text} makes one", vim.log.levels.WARN)
    return
  end
  local argument = { uri = uri, steps = #steps > 0 and steps or nil }
  M.execute(root, { title = "Run the plan", command = "odin.executePlan", arguments = { argument } })
end

---Choose what to do with the plan in a buffer.
---@param bufnr integer
function M.choose(bufnr)
  local root, cursor = roots.of(bufnr), vim.fn.line(".") - 1
  life.with_client(root, function(client)
    local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }
    compat.request(client, "textDocument/codeLens", params, function(_, found)
      local lenses = found or {}
      if #lenses == 0 then
        words.say("this is not a plan, or all of its steps are done")
        return
      end
      pick.from(M.from(lenses, cursor), {
        prompt = "Select what to do with the plan",
        kind = "step",
        line = function(lens)
          local row = lens.range.start.line
          local step = vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
          return row == 0 and lens.command.title or ("%s: %s"):format(lens.command.title, vim.trim(step))
        end,
        preview = function(lens)
          local row = lens.range.start.line
          return table.concat(vim.api.nvim_buf_get_lines(bufnr, row, row + PREVIEWED, false), "\n")
        end,
      }, function(lens)
        M.execute(root, lens.command)
      end)
    end)
  end)
end

---What is at the cursor comes first, the rest as it stands in the plan.
---@param lenses lsp.CodeLens[]
---@param cursor integer
---@return lsp.CodeLens[]
function M.from(lenses, cursor)
  local function at_cursor(lens)
    return lens.range.start.line == cursor
  end
  local others = vim.tbl_filter(function(lens)
    return not at_cursor(lens)
  end, lenses)
  return vim.list_extend(vim.tbl_filter(at_cursor, lenses), others)
end

---@private
---@param root string
---@param command lsp.Command
function M.execute(root, command)
  local argument = vim.deepcopy(command.arguments[1])
  if command.command ~= "odin.plan.mark" then
    require("odin.chat").open(root, { enter = false })
    argument.turnId = require("odin.chat").of_root(root):mint(command.title)
  end
  request.execute(root, (command.command:gsub("^odin%.", "")), argument)
end

return M
