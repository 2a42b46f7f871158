-- How things are said.

local M = {}

---`1 file`, `2 files`.
---@param number integer
---@param noun string
---@return string
function M.count(number, noun)
  return ("%d %s%s"):format(number, noun, number == 1 and "" or "s")
end

---The beginning of a text, in so many characters.
---@param text string
---@param width integer
---@return string
function M.cut(text, width)
  if vim.fn.strchars(text) <= width then
    return text
  end
  return vim.fn.strcharpart(text, 0, width - 1) .. "…"
end

---@param text string
---@return string[]
function M.lines(text)
  return vim.split((text:gsub("\r\n", "\n")), "\n", { plain = true })
end

return M
