-- What Odin follows from the start of Neovim. Who hears of it is loaded when it happens, and not before.

local M = {}

---Events, and who hears of them: a function of a module.
---@type { [1]: string|string[], [2]: string, [3]: string, pattern?: string }[]
local FOLLOWED = {
  { "BufEnter", "odin.chat.context", "entered" },
  { { "BufReadPost", "BufWritePost", "FileChangedShellPost" }, "odin.client.files", "note_time" },
  { "LspAttach", "odin.intelligence.peers", "attached" },
  { "LspProgress", "odin.intelligence.peers", "progressed", pattern = "end" },
  { "LspAttach", "odin.plans", "attached" },
}
local OPENED = { "FileType", "odin.client.life", "opened" }

function M.begin()
  local group = vim.api.nvim_create_augroup("odin", {})
  local function follow(it)
    vim.api.nvim_create_autocmd(it[1], {
      group = group,
      pattern = it.pattern,
      callback = function(event)
        return require(it[2])[it[3]](event)
      end,
    })
  end
  for _, it in ipairs(FOLLOWED) do
    follow(it)
  end
  if not require("odin.config").get().enabled then
    return
  end
  local is_late = vim.v.vim_did_enter == 1
  if not (is_late and require(OPENED[2]).opened({ buf = vim.api.nvim_get_current_buf() })) then
    follow(OPENED)
  end
end

return M
