-- Positions of LSP count in the units of an encoding, and each server may use another one.

local compat = require("odin.client.compat")
local files = require("odin.client.files")

local M = {}

---What only its server understands.
local OPAQUE = { data = true, command = true, arguments = true }

---@class odin.Converter
---@field from string
---@field to string
---@field texts table<string, integer|string[]> By uri: the buffer, or the lines of a file that is not loaded.
local Converter = {}
Converter.__index = Converter

---@private
---@param uri string
---@param number integer
---@return string
function Converter:line(uri, number)
  local text = self.texts[uri] or files.buffer(uri)
  if not text then
    local ok, lines = pcall(vim.fn.readfile, vim.uri_to_fname(uri))
    text = ok and lines or {}
  end
  self.texts[uri] = text
  if type(text) == "number" then
    return vim.api.nvim_buf_get_lines(text, number, number + 1, false)[1] or ""
  end
  return text[number + 1] or ""
end

---@private
---@param value any
---@param uri string The document that positions without another one are in.
function Converter:walk(value, uri)
  if type(value) ~= "table" then
    return
  end
  if type(value.line) == "number" and type(value.character) == "number" then
    local line = self:line(uri, value.line)
    value.character = compat.character(line, compat.byte(line, value.character, self.from), self.to)
    return
  end
  local own = value.uri or vim.tbl_get(value, "textDocument", "uri") or uri
  for key, inner in pairs(value) do
    if key == "changes" then
      for changed, edits in pairs(inner) do
        self:walk(edits, changed)
      end
    elseif key == "fromRanges" and value.from then
      self:walk(inner, value.from.uri)
    elseif key == "targetRange" or key == "targetSelectionRange" then
      self:walk(inner, value.targetUri)
    elseif not OPAQUE[key] then
      self:walk(inner, own)
    end
  end
end

---Params or results of LSP, with their positions in another encoding.
---@generic T
---@param value T
---@param uri string
---@param from string
---@param to string
---@return T
function M.converted(value, uri, from, to)
  if from == to or type(value) ~= "table" then
    return value
  end
  local copy = vim.deepcopy(value)
  setmetatable({ from = from, to = to, texts = {} }, Converter):walk(copy, uri)
  return copy
end

return M
