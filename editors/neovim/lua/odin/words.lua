-- How things are said.

local display = require("odin.display")

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
  return table.concat(M.said({ tokens, M.money(usage) }), " · ")
end

---@param usage? odin.Usage
---@return string
function M.money(usage)
  local money = usage and usage.costUsd or 0
  return money > 0 and ("$%.4f"):format(money) or ""
end

---Parts of a line, of the first of these that fits.
---@param variants string[][] From the longest to the shortest.
---@param width? integer Without it: there is room enough.
---@return string
function M.fitted(variants, width)
  local line
  for _, parts in ipairs(variants) do
    line = display.flat(table.concat(M.said(parts), " · "))
    if vim.fn.strdisplaywidth(line) <= (width or math.huge) then
      break
    end
  end
  return line
end

---On one line.
---@param text string
---@return string
function M.flat(text)
  return display.flat(text)
end

---A command, as far as its beginning tells which it is.
---@param command string
---@return string
function M.command(command)
  return M.cut(command, COMMAND_WIDTH)
end

---The beginning of a line, in so many characters.
---@param text string
---@param width integer
---@return string
function M.cut(text, width)
  local line = display.flat(text)
  if vim.fn.strchars(line) <= width then
    return line
  end
  return vim.fn.strcharpart(line, 0, width - 1) .. "…"
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

---Say the first of these that fits on the message line: what is longer would stop the user at a prompt, in the middle
---of a word that they type.
---@param variants string[] From the longest to the shortest.
---@param level? integer
function M.say_briefly(variants, level)
  local lines = vim.tbl_map(function(message)
    return { message }
  end, variants)
  M.say(M.fitted(lines, vim.v.echospace - #"Odin: "), level)
end

---Somebody who types sees the beginning of what is too long, for the same reason.
---@param message string
---@param level? integer
function M.say(message, level)
  local text = "Odin: " .. message
  if vim.api.nvim_get_mode().mode:find("^[iR]") then
    text = M.cut(text, vim.v.echospace)
  end
  require("odin.screen").notify(text, level or vim.log.levels.INFO)
end

return M
