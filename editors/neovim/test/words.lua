local words = require("odin.words")

return {
  ["one is told from many"] = function()
    equals(words.count(1, "file"), "1 file")
    equals(words.count(0, "file"), "0 files")
  end,
  ["tokens from the cache count as read, and money is told if there is any"] = function()
    equals(words.cost({ inputTokens = 2, cacheReadTokens = 3, outputTokens = 1 }), "5 tokens in, 1 out")
    equals(words.cost({ inputTokens = 1, costUsd = 0.00125 }), "1 token in, 0 out · $0.0013")
    equals(words.cost(nil), "")
  end,
  ["a text is cut by characters, not by bytes"] = function()
    equals(words.cut("äöüß", 4), "äöüß")
    equals(words.cut("äöüß", 3), "äö…")
  end,
  ["a line break of Windows is one"] = function()
    equals(words.lines("a\r\nb\n"), { "a", "b", "" })
    equals(words.flat("a\nb"), "a ⏎ b")
  end,
  ["a line is the longest that fits, and the shortest if none does"] = function()
    local variants = { { "ä", "", "second" }, { "ä", "b" }, { "äöü" } }
    equals(words.fitted(variants), "ä · second")
    equals(words.fitted(variants, 9), "ä · b")
    equals(words.fitted(variants, 1), "äöü")
  end,
  ["what says nothing is left out"] = function()
    equals(words.said({ "a", "", "b" }), { "a", "b" })
  end,
}
