local keys = require("odin.keys")

---@param settings table
---@param run fun()
local function with(settings, run)
  vim.g.odin = settings
  local ok, problem = pcall(run)
  vim.g.odin = nil
  assert(ok, problem)
end

---@return string[]
local function mapped(bufnr)
  local found = vim.tbl_map(function(it)
    return it.lhs
  end, vim.api.nvim_buf_get_keymap(bufnr, "n"))
  table.sort(found)
  return found
end

return {
  ["a buffer has keys while it has changes"] = function()
    local bufnr = vim.api.nvim_create_buf(false, true)
    keys.review(bufnr, true)
    equals(mapped(bufnr), { "[o", "\\oe", "\\on", "\\ou", "\\oy", "]o" })
    keys.review(bufnr, false)
    equals(mapped(bufnr), {})
  end,
  ["the user may want others, or none"] = function()
    local bufnr = vim.api.nvim_create_buf(false, true)
    with({ review_keys = false }, function()
      keys.review(bufnr, true)
      equals(mapped(bufnr), {})
      equals(keys.hint(), "")
    end)
    with({ review_keys = { accept = "ga" } }, function()
      keys.review(bufnr, true)
      equals(mapped(bufnr), { "ga" })
      equals(keys.hint(), "ga accept")
    end)
  end,
  ["keys that the user has mapped stay theirs"] = function()
    local bufnr = vim.api.nvim_create_buf(false, true)
    vim.keymap.set("n", "]o", ":echo 'mine'<CR>", { buffer = bufnr })
    keys.review(bufnr, true)
    keys.review(bufnr, false)
    equals(mapped(bufnr), { "]o" })
  end,
  ["an answer has a key, as far as there are digits"] = function()
    equals(keys.answer(1), "<C-\\>1")
    equals(keys.answer(10), nil)
    with({ question_keys = false }, function()
      equals(keys.answer(1), nil)
    end)
  end,
  ["keys of a question are gone after it, and what was there is there again"] = function()
    vim.keymap.set("n", "<C-\\>1", ":echo 'mine'<CR>")
    local chosen
    local remove = keys.question(2, function(number)
      chosen = number
    end)
    vim.fn.maparg("<C-\\>2", "i", false, true).callback()
    equals(chosen, 2)
    remove()
    equals(vim.fn.maparg("<C-\\>2", "i"), "")
    equals(vim.fn.maparg("<C-\\>1", "n"), ":echo 'mine'<CR>")
    vim.keymap.del("n", "<C-\\>1")
  end,
}
