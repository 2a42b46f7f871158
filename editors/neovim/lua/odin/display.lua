-- What may be shown of a text that others wrote: a model, a repository, a server. People are misled by characters that
-- hide or reorder what they read: each of these is written out, so that it is seen and does nothing. This changes what
-- is drawn, never what is applied, copied, saved or sent. The server has the same rules (`odin_lsp/display.py`).

local M = {}

---Characters of a name, a title or a label that are shown.
M.MOST = 1000
---Stands for the end of a line where there is only one line: what follows it must not pass for a part of it.
M.LINE_BREAK = " ⏎ "
---Controls but for tabs and line ends.
local CONTROLS = "[%z\1-\8\11-\31\127]"
---What may need to be looked at.
local NOTABLE = "[%z\1-\8\11-\31\127-\255]"
local NAMED = { ["\r"] = "\\r" }

---Controls, what reorders text, what has no width, and letters that look like nothing: first and last of each range.
local HIDDEN = {
  { 0x80, 0x9f }, { 0xad, 0xad }, { 0x34f, 0x34f }, { 0x61c, 0x61c }, { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 },
  { 0x180e, 0x180e }, { 0x200b, 0x200f }, { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0x3164, 0x3164 },
  { 0xd800, 0xdfff }, { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff }, { 0xffa0, 0xffa0 }, { 0xfff0, 0xfffb },
  { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
}
---Spaces, of which one looks like another.
local SPACES = {
  { 0xa0, 0xa0 }, { 0x1680, 0x1680 }, { 0x2000, 0x200a }, { 0x202f, 0x202f }, { 0x205f, 0x205f }, { 0x3000, 0x3000 },
}
---Signs that can be drawn as an emoji.
local SIGNS = {
  { 0x23, 0x23 }, { 0x2a, 0x2a }, { 0x30, 0x39 }, { 0xa9, 0xa9 }, { 0xae, 0xae }, { 0x2010, 0x2bff },
  { 0x3030, 0x3030 }, { 0x303d, 0x303d }, { 0x3297, 0x3297 }, { 0x3299, 0x3299 }, { 0x1f000, 0x1faff },
}

---@param code integer
---@param ranges [integer, integer][]
---@return boolean
local function is_in(code, ranges)
  for _, range in ipairs(ranges) do
    if code <= range[2] then
      return code >= range[1]
    end
  end
  return false
end

---The number of a character that begins with this byte and goes on with these; nil if it is none.
---@param text string
---@return integer?
local function code_of(text)
  local lead = text:byte()
  local width = lead < 0x80 and 1 or lead < 0xc2 and 0 or lead < 0xe0 and 2 or lead < 0xf0 and 3 or lead < 0xf5 and 4
  if width ~= #text then
    return nil
  end
  local code = width == 1 and lead or lead % 2 ^ (7 - width)
  for index = 2, width do
    code = code * 64 + text:byte(index) % 64
  end
  local is_long = (width == 3 and code < 0x800) or (width == 4 and code < 0x10000) -- it has a shorter way to be written
  return not is_long and code <= 0x10ffff and code or nil
end

---@param character string
---@return boolean
local function is_visible(character)
  local code = character ~= "" and code_of(character)
  return code and code > 0x7f and not is_in(code, HIDDEN) and not is_in(code, SPACES) or false
end

---@param code integer
---@return boolean
local function is_style(code)
  return code == 0xfe0e or code == 0xfe0f
end

---Whether it is a part of what people see: it joins two emoji, or two letters of a script that needs it, or says how an
---emoji is drawn. What has not come yet is taken for such a part.
---@param code integer
---@param before string
---@param after string
---@return boolean
local function belongs(code, before, after)
  local last = before ~= "" and code_of(before)
  if is_style(code) then
    return last and is_in(last, SIGNS) or false
  end
  local is_joiner = code == 0x200c or code == 0x200d
  local follows = is_visible(before) or (last and is_style(last) or false)
  return is_joiner and follows and (after == "" or is_visible(after))
end

---@param code integer
---@return string
local function named(code)
  local form = code < 0x100 and "\\x%02x" or code < 0x10000 and "\\u%04x" or "\\U%08x"
  return form:format(code)
end

---@param text string
---@return string
local function bytes(text)
  return (text:gsub(".", function(byte)
    return ("\\x%02x"):format(byte:byte())
  end))
end

---@param control string
---@return string
local function control_named(control)
  return NAMED[control] or named(control:byte())
end

---The last character of a text, or the first.
---@param text string
---@param is_last boolean
---@return string
local function end_of(text, is_last)
  local character = "[%z\1-\127\192-\255][\128-\191]*"
  return text:match(is_last and character .. "$" or "^" .. character) or ""
end

---@param text string
---@param ranges [integer, integer][][] Of characters that are written out.
---@param before? string What came before it; without it, no character belongs to another.
---@return string
local function written_out(text, ranges, before)
  local function one(at, character)
    local code = code_of(character)
    if not code then
      return bytes(character)
    end
    for _, it in ipairs(ranges) do
      if is_in(code, it) then
        local last = at > 1 and end_of(text:sub(math.max(1, at - 4), at - 1), true) or before or ""
        local after = end_of(text:sub(at + #character, at + #character + 3), false)
        return before and belongs(code, last, after) and character or named(code)
      end
    end
    return character
  end
  local given = text
  text = given:gsub("%f[\128-\191]()([\128-\191]+)", function(at, stray)
    return at > 1 and given:byte(at - 1) >= 0xc0 and stray or bytes(stray)
  end)
  return (text:gsub("()([\192-\255][\128-\191]*)", one))
end

---Any number of lines, which end with `\n`; tabs stay.
---@param text string
---@param before? string The last character of what came before it, if it comes in pieces.
---@return string
function M.text(text, before)
  if not text:find(NOTABLE) then
    return text
  end
  local plain = text:gsub("\r\n", "\n"):gsub(CONTROLS, control_named)
  if not plain:find("[\128-\255]") then
    return plain
  end
  return written_out(plain, { HIDDEN }, before or "")
end

---@param text string
---@return string[]
function M.lines(text)
  return vim.split(M.text(text), "\n", { plain = true })
end

---One line: a name, a title, a label. If it is cut, it says so.
---@param text string
---@param most? integer
---@return string
function M.line(text, most)
  return M.cut(M.flat(text), most or M.MOST)
end

---One line, however long.
---@param text string
---@return string
function M.flat(text)
  local line = text:gsub("^[\r\n]+", ""):gsub("[\r\n]+$", "")
  return M.text((line:gsub("\r?\n", M.LINE_BREAK):gsub("\t", " ")))
end

---A line that is decided on as it is, such as one of a change: all is written out that could be taken for something
---else, also what is fine in prose.
---@param text string
---@return string
function M.exact(text)
  if not text:find("[%z\1-\8\10-\31\127-\255]") then
    return text
  end
  local plain = text:gsub("[\10\13]", { ["\n"] = "\\n", ["\r"] = "\\r" }):gsub(CONTROLS, control_named)
  return written_out(plain, { HIDDEN, SPACES })
end

---@private
---@param line string
---@param most integer
---@return string
function M.cut(line, most)
  local count = #line > most and vim.fn.strchars(line) or 0
  if count <= most then
    return line
  end
  return ("%s… (%d characters more)"):format(vim.fn.strcharpart(line, 0, most), count - most)
end

---For a statusline, a winbar or a tabline, which take `%` for an order.
---@param line string
---@return string
function M.bar(line)
  return (M.line(line):gsub("%%", "%%%%"))
end

return M
