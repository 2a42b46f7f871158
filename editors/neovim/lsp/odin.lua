-- What `vim.lsp.enable("odin")` starts, in Neovim 0.11 and newer.

return require("odin.client.life").config()
