local plans = require("odin.plans")

local function lens(row)
  return { range = { start = { line = row } } }
end

return {
  ["a plan is known by its first line"] = function()
    local bufnr = vim.api.nvim_create_buf(false, true)
    equals(plans.is_plan(bufnr), false)
    vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, { "<!-- A plan for Odin. Its steps are … -->", "", "- [ ] Look" })
    equals(plans.is_plan(bufnr), true)
  end,
  ["what is for the step at the cursor comes first"] = function()
    local all, here, below = lens(0), lens(2), lens(4)
    equals(plans.from({ all, here, below }, 4), { below, all, here })
    equals(plans.from({ all, here, below }, 1), { all, here, below })
  end,
}
