-- Something is chosen from a list by `vim.ui.select`: with a kind, a line for each, and a preview if pickers show it.

local display = require("odin.display")
local screen = require("odin.screen")
local words = require("odin.words")

local M = {}

---@class odin.Pick
---@field prompt string
---@field kind "answer"|"approval"|"change"|"confirm"|"extension"|"format"|"model"|"role"|"session"|"step"
---@field line? fun(item: any): string What it is known by; without it, items are texts.
---@field preview? fun(item: any): string, string? A text that says more of it, and its filetype.

---@param items any[]
---@param about odin.Pick
---@param use fun(item: any)
---@param left? fun() Nothing was chosen.
function M.from(items, about, use, left)
  local lines = M.lines(items, about.line or tostring)
  screen.select(items, {
    prompt = about.prompt,
    kind = "odin." .. about.kind,
    format_item = function(item)
      return lines[item]
    end,
    preview_item = about.preview and function(item)
      return { buf = M.buffer(about.preview(item)) }
    end,
  }, function(item)
    if item then
      use(item)
    elseif left then
      left()
    end
  end)
end

---No two of them are the same: pickers that search know items only by their lines.
---@param items any[]
---@param line fun(item: any): string
---@return table<any, string> lines By item.
function M.lines(items, line)
  local lines, times = {}, {}
  for _, item in ipairs(items) do
    local text = display.line(line(item))
    times[text] = (times[text] or 0) + 1
    lines[item] = times[text] > 1 and ("%s (%d)"):format(text, times[text]) or text
  end
  return lines
end

---@private
---@param text string
---@param filetype? string
---@return integer bufnr
function M.buffer(text, filetype)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  screen.put(bufnr, 0, -1, words.lines(text))
  vim.bo[bufnr].filetype = filetype or "markdown"
  return bufnr
end

return M
