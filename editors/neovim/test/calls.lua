local Calls = require("odin.session.calls")

local CALL = [[{"file_path": "a \"b\".py", "edits": [{"old_string": "x", "new_string": "\u00e9\\n\n\t“y”"}]}]]

return {
  ["a call is read as far as it has come"] = function()
    for width = 0, #CALL do
      local subject, text = Calls.seen(CALL:sub(1, width))
      assert(vim.startswith('a "b".py', subject), subject)
      assert(text == "x" or vim.startswith("é\\n\n\t“y”", text), text)
    end
  end,
  ["at its end all of it is read"] = function()
    equals({ Calls.seen(CALL) }, { 'a "b".py', "é\\n\n\t“y”" })
  end,
  ["what is about nothing is only a text"] = function()
    equals({ Calls.seen('{"note": "well') }, { "", "well" })
  end,
}
