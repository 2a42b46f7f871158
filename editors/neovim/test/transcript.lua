local Transcript = require("odin.chat.transcript")

---@return odin.Transcript transcript
---@return fun(): string[] lines
local function new()
  local bufnr = vim.api.nvim_create_buf(false, true)
  return Transcript.new(bufnr), function()
    return vim.api.nvim_buf_get_lines(bufnr, 0, -1, false)
  end
end

return {
  ["blocks stand apart, and items of a list together"] = function()
    local transcript, lines = new()
    transcript:put("a", { "# a" })
    transcript:put("b", { "- b" }, true)
    transcript:put("c", { "- c" }, true)
    transcript:put(nil, { "d" })
    equals(lines(), { "# a", "", "- b", "- c", "", "d" })
  end,
  ["a block that is known is renewed in its place, and can go"] = function()
    local transcript, lines = new()
    transcript:put("a", { "one" })
    transcript:put("b", { "two" })
    transcript:put("a", { "one", "and a half" })
    equals(lines(), { "one", "and a half", "", "two" })
    transcript:remove("a")
    equals(lines(), { "two" })
  end,
  ["what is streamed grows, and the whole message takes its place"] = function()
    local transcript, lines = new()
    transcript:stream("thinking", "hm\n")
    transcript:stream("thinking", "well")
    transcript:stream("text", "It ")
    transcript:stream("text", "is\nso")
    equals(lines(), { "┊ hm", "┊ well", "", "It is", "so" })
    transcript:finish_message({ "It is so." })
    equals(lines(), { "It is so." })
  end,
  ["what was thought says how long that took, if it was long, also folded"] = function()
    equals(Transcript.thought("hm", 999), { "┊ hm" })
    equals(Transcript.thought("hm"), { "┊ hm" })
    local lines = Transcript.thought("hm\nwell", 12400)
    equals(lines, { "┊ thought for 12 s", "┊ hm", "┊ well" })
    vim.api.nvim_set_current_buf(vim.api.nvim_create_buf(false, true))
    vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
    vim.wo.foldmethod = "manual"
    vim.wo.foldtext = "v:lua.require'odin.chat.transcript'.fold_text()"
    vim.cmd("1,3fold")
    equals(vim.fn.foldtextresult(1), "┊ thought for 12 s, 2 lines")
  end,
  ["what is earlier comes above, below the line that says so"] = function()
    local transcript, lines = new()
    transcript:put("earlier", { "more" })
    transcript:put("now", { "now" })
    transcript:above("earlier", function()
      transcript:put("one", { "one" })
      transcript:put("two", { "two" })
      transcript:put("now", { "older" })
    end)
    equals(lines(), { "more", "", "one", "", "two", "", "now" })
  end,
}
