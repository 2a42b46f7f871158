-- An image from the clipboard, for the next message.

local M = {}

---Programs that print it, in the order in which they are tried.
local PROGRAMS = {
  { "wl-paste", "--no-newline", "--type", "image/png" },
  { "xclip", "-selection", "clipboard", "-target", "image/png", "-out" },
  { "pngpaste", "-" },
}
local PNG = "\137PNG"

---The image as a file that is gone when Neovim ends.
---@return string? path
---@return string? problem
function M.image()
  local is_installed = false
  for _, command in ipairs(PROGRAMS) do
    if vim.fn.executable(command[1]) == 1 then
      is_installed = true
      local result = vim.system(command):wait(5000)
      if result.code == 0 and vim.startswith(result.stdout or "", PNG) then
        local path = vim.fn.tempname() .. ".png"
        local file = assert(io.open(path, "wb"))
        file:write(result.stdout)
        file:close()
        return path
      end
    end
  end
  local needed = "install wl-clipboard, xclip or pngpaste"
  return nil, is_installed and "no image in the clipboard" or needed
end

---Mention the clipboard's image in the prompt.
---@param root string
function M.into_prompt(root)
  local path, problem = M.image()
  if not path then
    require("odin.words").say(problem, vim.log.levels.WARN)
    return
  end
  require("odin.chat").open(root, { enter = true })
  vim.api.nvim_put({ "@" .. path .. " " }, "c", true, true)
  vim.cmd.startinsert({ bang = true })
end

return M
