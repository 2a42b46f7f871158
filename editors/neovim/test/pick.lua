local pick = require("odin.pick")

---What `vim.ui.select` is asked for.
---@param about odin.Pick
local function asked(items, about)
  local got
  local before = vim.ui.select
  vim.ui.select = function(_, opts)
    got = opts
  end
  pick.from(items, about, function() end)
  vim.ui.select = before
  return got
end

return {
  ["items with the same line can be told apart"] = function()
    local one, two, other = {}, {}, {}
    local opts = asked({ one, two, other }, {
      prompt = "Which?",
      kind = "session",
      line = function(it)
        return it == other and "another" or "the\nsame"
      end,
    })
    equals(opts.kind, "odin.session")
    equals(vim.tbl_map(opts.format_item, { one, two, other }), { "the ⏎ same", "the ⏎ same (2)", "another" })
  end,
  ["a preview is a buffer with the text"] = function()
    local opts = asked({ "x" }, {
      prompt = "Which?",
      kind = "change",
      preview = function(it)
        return "- a\n+ " .. it, "diff"
      end,
    })
    local bufnr = opts.preview_item("x").buf
    equals(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), { "- a", "+ x" })
    equals(vim.bo[bufnr].filetype, "diff")
  end,
  ["who chooses nothing is heard, too"] = function()
    local before, heard = vim.ui.select, {}
    vim.ui.select = function(_, _, choose)
      choose(nil)
    end
    pick.from({ "x" }, { prompt = "Which?", kind = "confirm" }, function()
      table.insert(heard, "used")
    end, function()
      table.insert(heard, "left")
    end)
    vim.ui.select = before
    equals(heard, { "left" })
  end,
}
