local display = require("odin.display")
local screen = require("odin.screen")

return {
  ["what is plain stays as it is"] = function()
    for _, text in ipairs({ "", "a\n\tb", "Zoë 日本 é…", "👩‍💻 ❤️ 1️⃣", "می‌خواهم", "100% \\x1b" }) do
      equals(display.text(text), text)
    end
  end,
  ["what hides or reorders is written out, and so is what is no character at all"] = function()
    equals(display.text("a\27[2K\0\r\194\155b"), "a\\x1b[2K\\x00\\r\\x9bb")
    equals(display.text("\226\128\174x\239\187\191 \240\157\133\179"), "\\u202ex\\ufeff \\U0001d173")
    equals(display.text("\128\195\168\255\195 \237\160\128\195\168\128"), "\\x80è\\xff\\xc3 \\ud800\\xc3\\xa8\\x80")
  end,
  ["a name is one line, and says so if it is cut"] = function()
    equals(display.line("\na\r\nb\tc\n\n"), "a ⏎ b c")
    equals(display.line(("é"):rep(12), 10), ("é"):rep(10) .. "… (2 characters more)")
    equals(display.flat(("é"):rep(5000)), ("é"):rep(5000))
  end,
  ["what is decided on is shown exactly"] = function()
    equals(display.exact("a\194\160b\226\128\141c\tmy👩‍💻"), "a\\xa0b\\u200dc\tmy👩\\u200d💻")
  end,
  ["bars take no orders"] = function()
    equals(display.bar("50%\n%{x}"), "50%% ⏎ %%{x}")
  end,
  ["an emoji may come in pieces"] = function()
    local bufnr = vim.api.nvim_create_buf(false, true)
    screen.put(bufnr, 0, -1, { "it is 👩" })
    screen.put_behind(bufnr, 0, { "\226\128\141" })
    screen.put_behind(bufnr, 0, { "💻", "\226\128\141b\nc" })
    equals(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), { "it is 👩‍💻", "\\u200db ⏎ c" })
  end,
  ["a buffer that is named is found by its name, whatever is in it"] = function()
    local bufnr = vim.api.nvim_create_buf(false, true)
    screen.name(bufnr, "odin://chat/a\n[b]*")
    equals(screen.named("odin://chat/a\n[b]*"), bufnr)
    equals(screen.named("odin://chat/a"), nil)
  end,
}
