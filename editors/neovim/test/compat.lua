local compat = require("odin.client.compat")

return {
  ["a character's byte and a byte's character fit each other"] = function()
    for encoding, character in pairs({ ["utf-8"] = 6, ["utf-16"] = 3, ["utf-32"] = 2 }) do
      equals(compat.byte("ä𝒂x", character, encoding), 6)
      equals(compat.character("ä𝒂x", 6, encoding), character)
    end
  end,
  ["what is behind the end of a line is its end"] = function()
    for _, encoding in ipairs({ "utf-8", "utf-16", "utf-32" }) do
      equals(compat.byte("äx", 9, encoding), 3)
    end
  end,
}
