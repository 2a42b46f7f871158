-- Defines the commands and the maps, and has the server started with the first file. The rest is loaded when used.

if vim.g.loaded_odin then
  return
end
vim.g.loaded_odin = true

if vim.fn.has("nvim-0.10") == 0 then
  vim.api.nvim_echo({ { "Odin needs Neovim 0.10 or newer; please update Neovim.", "WarningMsg" } }, true, {})
  return
end

require("odin.commands").define()
require("odin.following").begin()
