-- Every `<Plug>` map.

---@type { lhs: string, mode: string[], rhs: string|fun(), desc: string }[]
return {
  { lhs = "<Plug>(odin-ask)", mode = { "n", "x" }, rhs = ":OdinAsk<CR>", desc = "`:OdinAsk`" },
  { lhs = "<Plug>(odin-plan)", mode = { "n", "x" }, rhs = ":OdinPlan<CR>", desc = "`:OdinPlan`" },
  { lhs = "<Plug>(odin-edit)", mode = { "n", "x" }, rhs = ":OdinEdit<CR>", desc = "`:OdinEdit`" },
  { lhs = "<Plug>(odin-chat)", mode = { "n" }, rhs = "<Cmd>OdinChat<CR>", desc = "`:OdinChat`" },
  { lhs = "<Plug>(odin-cancel)", mode = { "n" }, rhs = "<Cmd>OdinCancel<CR>", desc = "`:OdinCancel`" },
  { lhs = "<Plug>(odin-accept)", mode = { "n", "x" }, rhs = ":OdinAccept<CR>", desc = "`:OdinAccept`" },
  { lhs = "<Plug>(odin-reject)", mode = { "n", "x" }, rhs = ":OdinReject<CR>", desc = "`:OdinReject`" },
  { lhs = "<Plug>(odin-reopen)", mode = { "n", "x" }, rhs = ":OdinReopen<CR>", desc = "`:OdinReopen`" },
  { lhs = "<Plug>(odin-review-edit)", mode = { "n" }, rhs = "<Cmd>OdinReview edit<CR>", desc = "`:OdinReview edit`" },
  {
    lhs = "<Plug>(odin-next)",
    mode = { "n" },
    rhs = function()
      require("odin.review.walk").jump(1)
    end,
    desc = "go to the next pending change",
  },
  {
    lhs = "<Plug>(odin-previous)",
    mode = { "n" },
    rhs = function()
      require("odin.review.walk").jump(-1)
    end,
    desc = "go to the pending change before",
  },
}
