local protocol = require("odin.protocol")

local LUA = vim.fs.dirname(vim.api.nvim_get_runtime_file("lua/odin/protocol.lua", false)[1])
local CHECKED = { "---@param", "---@return", "---@field", "---@type", "---@class", "---@alias", "---|" }

---@param use fun(line: string, place: string)
local function each_line(use)
  for path, kind in vim.fs.dir(LUA, { depth = 9 }) do
    if kind == "file" then
      for number, line in ipairs(vim.fn.readfile(vim.fs.joinpath(LUA, path))) do
        use(line, ("%s:%d"):format(path, number))
      end
    end
  end
end

---@return table<string, string> handled Which module takes an event.
local function handlers()
  local events, handled = require("odin.client.events"), {}
  for kind in pairs(events.ACTS) do
    handled[kind] = "events"
  end
  for _, name in ipairs({ "chat/init.lua", "session/story.lua" }) do
    for _, line in ipairs(vim.fn.readfile(vim.fs.joinpath(LUA, name))) do
      local kind = line:match("^function %a+:on_(%a+)%(")
      if kind then
        handled[kind] = name
      end
    end
  end
  return handled
end

return {
  ["every event is handled or named as ignored, and not both"] = function()
    local handled, ignored = handlers(), require("odin.client.events").IGNORED
    local wrong = vim.tbl_filter(function(kind)
      return (handled[kind] ~= nil) == (ignored[kind] ~= nil)
    end, protocol.events)
    equals(wrong, {})
  end,
  ["nothing is handled or ignored that is no event"] = function()
    local unknown = {}
    for kind in pairs(vim.tbl_extend("error", handlers(), require("odin.client.events").IGNORED)) do
      if not vim.list_contains(protocol.events, kind) then
        table.insert(unknown, kind)
      end
    end
    equals(unknown, {})
  end,
  ["only commands of the protocol are sent"] = function()
    local unknown = {}
    each_line(function(line, place)
      local name = line:match('%.execute%([^"]-, "([%w.]+)"') or line:match('%.glance%([^"]-, "([%w.]+)"')
      if name and not vim.list_contains(protocol.commands, "odin." .. name) then
        table.insert(unknown, ("%s: %s"):format(place, name))
      end
    end)
    equals(unknown, {})
  end,
  ["every type that is named is declared, and once"] = function()
    local declared, named, wrong = {}, {}, {}
    each_line(function(line, place)
      local own = line:match("^%-%-%-@class (odin%.%a+)") or line:match("^%-%-%-@alias (odin%.%a+)")
      if own then
        table.insert(wrong, declared[own] and ("%s: %s is declared twice"):format(place, own) or nil)
        declared[own] = true
      end
      local is_type = vim.iter(CHECKED):any(function(it)
        return vim.startswith(vim.trim(line), it)
      end)
      for name in (is_type and line:gsub('"[^"]*"', ""):gsub("`[^`]*`", "") or ""):gmatch("odin%.%u%a+") do
        named[name] = place
      end
    end)
    for name, place in pairs(named) do
      table.insert(wrong, not declared[name] and ("%s: %s"):format(place, name) or nil)
    end
    equals(wrong, {})
  end,
}
