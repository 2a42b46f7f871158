-- How things are said.

local M = {}

local COMMAND_WIDTH = 60

---`1 file`, `2 files`.
---@param number integer
---@param noun string
---@return string
function M.count(number, noun)
  return ("%d %s%s"):format(number, noun, number == 1 and "" or "s")
end

---Tokens and money, as far as they are known.
---@param usage? odin.Usage
---@return string
function M.cost(usage)
  if not usage then
    return ""
  end
  local into = (usage.inputTokens or 0) + (usage.cacheReadTokens or 0) + (usage.cacheWriteTokens or 0)
  local tokens = ("%s in, %d out"):format(M.count(into, "token"), usage.outputTokens or 0)
  local money = usage.costUsd or 0
  return money > 0 and ("%s · $%.4f"):format(tokens, money) or tokens
end

---On one line.
---@param text string
---@return string
function M.flat(text)
  return (text:gsub("\n", " "))
end

---A command, as far as its beginning tells which it is.
---@param command string
---@return string
function M.command(command)
  return M.cut(M.flat(command), COMMAND_WIDTH)
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

---Those that say something.
---@param texts string[]
---@return string[]
function M.said(texts)
  return vim.tbl_filter(function(text)
    return text ~= ""
  end, texts)
end

---@param text string
---@return string[]
function M.lines(text)
  return vim.split((text:gsub("\r\n", "\n")), "\n", { plain = true })
end

return M
