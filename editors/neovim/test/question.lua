local question = require("odin.chat.question")

---@param title string
---@return integer window
local function shown(title)
  return (question.show({ questionId = "1", kind = "question", title = title }))
end

return {
  ["a long question breaks between words, and all of it is seen"] = function()
    local width = math.max(20, math.min(vim.o.columns - 4, 100))
    local first = ("x"):rep(width - 3)
    local window = shown(("%s sixteen-letters %s last"):format(first, first))
    local left = vim.api.nvim_win_get_position(window)[2]
    local place = vim.fn.screenpos(window, 1, #first + 2)
    equals({ place.col, vim.api.nvim_win_get_height(window) }, { left + 2, 4 })
    vim.api.nvim_win_close(window, true)
  end,
}
