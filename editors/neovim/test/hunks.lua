local hunks = require("odin.review.hunks")

---@param lines string[]
---@return odin.Text
local function text(lines)
  return {
    count = #lines,
    line = function(row)
      return lines[row + 1] or ""
    end,
  }
end

---A hunk, from a place to another, counted from 0.
local function hunk(from, to, old, new)
  local range = {
    start = { line = from[1], character = from[2] },
    ["end"] = { line = to[1], character = to[2] },
  }
  return {
    hunk = { id = "h", range = range, oldText = old, newText = new, reason = "" },
    file = { uri = "file:///a.py", operation = "edit" },
    review = { encoding = "utf-16", root = "/" },
    path = "/a.py",
  }
end

return {
  ["whole lines come and go as such"] = function()
    local span = hunks.span(hunk({ 1, 0 }, { 2, 0 }, "b\n", "B\nbb\n"), text({ "a", "b", "c" }))
    equals({ span.first, span.last, span.old, span.new }, { 1, 1, { "b" }, { "B", "bb" } })
  end,
  ["a fragment is shown in the lines that it is part of"] = function()
    local span = hunks.span(hunk({ 0, 4 }, { 0, 5 }, "1", "22"), text({ "x = 1 # ä" }))
    equals({ span.old, span.new, span.put }, { { "x = 1 # ä" }, { "x = 22 # ä" }, { "22" } })
  end,
  ["a column counts in the units of the client"] = function()
    local span = hunks.span(hunk({ 0, 3 }, { 0, 4 }, "x", "y"), text({ "𝒂 x" }))
    equals({ span.head, span.new }, { "𝒂 ", { "𝒂 y" } })
  end,
  ["new lines stand behind the line above them, or above the first"] = function()
    local inserted = hunks.span(hunk({ 1, 0 }, { 1, 0 }, "", "n\n"), text({ "a", "b" }))
    equals({ inserted.is_empty, inserted.is_above, inserted.first }, { true, false, 0 })
    local first = hunks.span(hunk({ 0, 0 }, { 0, 0 }, "", "n\n"), text({ "a", "b" }))
    equals({ first.is_empty, first.is_above, first.first }, { true, true, 0 })
  end,
  ["a change is known by its line"] = function()
    local lines = text({ "a", "    b = 1", "c" })
    equals(hunks.label(hunk({ 1, 8 }, { 1, 9 }, "1", "2"), lines), "- b = 1 → + b = 2")
    equals(hunks.label(hunk({ 1, 0 }, { 3, 0 }, "    b = 1\nc\n", ""), lines), "- b = 1  (−2 +0)")
    equals(hunks.label(hunk({ 1, 0 }, { 1, 0 }, "", "\n"), lines), "+ 1 empty line")
  end,
}
