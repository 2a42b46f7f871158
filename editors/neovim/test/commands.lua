local commands = require("odin.commands")

local TRY = { name = "OdinTry", args = { "{text}", "run [{step}]", "rest" }, bang = true, range = true }

return {
  ["words that can follow a command are completed, and what stands in braces is not"] = function()
    local complete = commands.completion(TRY)
    equals(complete("r", "'<,'>OdinTry r"), { "run", "rest" })
    equals(complete("", "OdinTry! "), { "run", "rest" })
    equals(complete("r", "OdinTry say r"), {})
  end,
  ["the help shows all that can be typed"] = function()
    equals(commands.usage(TRY), ":[range]OdinTry[!] [{text}|run [{step}]|rest]")
    equals(commands.usage({ name = "OdinChat" }), ":OdinChat")
  end,
  ["a map calls its command, with what is selected if that takes a range"] = function()
    local maps = {}
    for _, map in ipairs(commands.maps()) do
      maps[map.lhs] = map
    end
    equals({ maps["<Plug>(odin-ask)"].rhs, maps["<Plug>(odin-ask)"].modes }, { ":OdinAsk<CR>", { "n", "x" } })
    equals({ maps["<Plug>(odin-next)"].rhs, maps["<Plug>(odin-next)"].modes }, { "<Cmd>OdinReview next<CR>", { "n" } })
  end,
}
