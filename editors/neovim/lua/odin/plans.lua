-- The steps of a plan: what the server offers above them, to choose from.

local server = require("odin.server")

local M = {}

---@param bufnr integer
function M.choose(bufnr)
  local root, cursor = server.root_of(bufnr), vim.fn.line(".") - 1
  server.with_client(root, function(client)
    local params = { textDocument = { uri = vim.uri_from_bufnr(bufnr) } }
    server.request(client, "textDocument/codeLens", params, function(_, found)
      local lenses = found or {}
      if #lenses == 0 then
        server.say("this is no plan of Odin's, or all of it is done")
        return
      end
      vim.ui.select(M.from(lenses, cursor), {
        prompt = "Odin's plan",
        format_item = function(lens)
          local row = lens.range.start.line
          local step = vim.api.nvim_buf_get_lines(bufnr, row, row + 1, false)[1] or ""
          return row == 0 and lens.command.title or ("%s: %s"):format(lens.command.title, vim.trim(step))
        end,
      }, function(lens)
        if lens then
          M.run(root, lens.command)
        end
      end)
    end)
  end)
end

---What is at the cursor comes first, the rest as it stands in the plan.
---@private
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
function M.run(root, command)
  local argument = vim.deepcopy(command.arguments[1])
  if command.command ~= "odin.plan.mark" then
    require("odin.chat").open(root, { enter = false })
    argument.turnId = require("odin.chat").of_root(root):mint(command.title)
  end
  server.execute(root, (command.command:gsub("^odin%.", "")), argument)
end

return M
