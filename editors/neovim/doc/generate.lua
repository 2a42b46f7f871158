-- Writes doc/odin.txt from what the modules say of themselves: `nvim -l doc/generate.lua [--check]`, in editors/neovim.

local WIDTH = 78
local here = vim.fs.dirname(vim.fs.dirname(vim.fs.normalize(debug.getinfo(1, "S").source:sub(2))))
vim.opt.runtimepath:prepend(here)

local lines = {}

local function add(...)
  vim.list_extend(lines, { ... })
end

---@param text string
---@param indent integer
local function paragraph(text, indent)
  local line = (" "):rep(indent)
  for word in text:gmatch("%S+") do
    if #line + #word + 1 > WIDTH and vim.trim(line) ~= "" then
      add(line)
      line = (" "):rep(indent)
    end
    line = vim.trim(line) == "" and line .. word or line .. " " .. word
  end
  add(line)
end

---@param left string
---@param tag string
local function tagged(left, tag)
  local mark = ("*%s*"):format(tag)
  add(left .. (" "):rep(math.max(2, WIDTH - #left - #mark)) .. mark)
end

---@param title string
---@param tag string
local function section(title, tag)
  add("", ("="):rep(WIDTH))
  tagged(title:upper(), tag)
  add("")
end

---Fields of an annotated class: `---@field name type What it is for.`
---@param path string
---@return { name: string, kind: string, desc: string }[]
local function fields(path)
  local found = {}
  for _, line in ipairs(vim.fn.readfile(vim.fs.joinpath(here, path))) do
    local name, kind, desc = line:match("^%-%-%-@field (%S+) (%S+[%S]*) (.*)$")
    if name then
      table.insert(found, { name = name:gsub("%?$", ""), kind = kind, desc = desc })
    end
  end
  return found
end

---Public functions with their descriptions.
---@param path string
---@return { call: string, desc: string }[]
local function functions(path)
  local found, desc = {}, {}
  for _, line in ipairs(vim.fn.readfile(vim.fs.joinpath(here, path))) do
    local said, call = line:match("^%-%-%-([^@].*)$"), line:match("^function M%.(.*)$")
    if said then
      table.insert(desc, said)
    elseif call then
      table.insert(found, { call = call, desc = table.concat(desc, " ") })
      desc = {}
    elseif not vim.startswith(line, "---") then
      desc = {}
    end
  end
  return found
end

add("*odin.txt*  A coding agent that lives in a language server", "")
paragraph(
  "Install the server with `pipx install odin-lsp` and put this folder on 'runtimepath' or 'packpath', by hand or "
    .. "by a plugin manager. There is nothing to set up: the server starts with the first file, and |:OdinAsk| talks "
    .. "to it. |:checkhealth| odin tells what is missing.",
  0
)

section("Commands", "odin-commands")
for _, command in ipairs(require("odin.commands").commands) do
  local bang, range = command.opts.bang and "[!]" or "", command.opts.range and ":[range]" or ":"
  tagged(vim.trim(range .. command.name .. bang .. " " .. command.args), ":" .. command.name)
  paragraph(command.desc, 8)
  add("")
end

section("Maps", "odin-maps")
paragraph("There are no keymaps outside of Odin's own buffers. Map these as you like, for instance:", 0)
add(
  ">lua",
  '    vim.keymap.set({ "n", "x" }, "<Leader>a", "<Plug>(odin-ask)")',
  '    vim.keymap.set("n", "]o", "<Plug>(odin-next)")',
  '    vim.keymap.set("n", "[o", "<Plug>(odin-previous)")',
  '    vim.keymap.set({ "n", "x" }, "<Leader>y", "<Plug>(odin-accept)")',
  '    vim.keymap.set({ "n", "x" }, "<Leader>n", "<Plug>(odin-reject)")',
  '    vim.keymap.set({ "n", "x" }, "<Leader>o", "<Plug>(odin-reopen)")',
  "<"
)
for _, map in ipairs(require("odin.commands").maps) do
  tagged(("%s  %s"):format(map.lhs, (map.desc:gsub("`", ""))), map.lhs)
end
add("")
paragraph(
  "In the prompt: <CR> and <C-s> send, <Tab> chooses the mode, <C-c> cancels the turn, CTRL-X CTRL-O completes @file, "
    .. "#selection and #diagnostics, q closes the chat. In the chat: i writes a message, p shows earlier ones, <C-c> "
    .. "cancels, q closes.",
  0
)

section("Settings", "odin-configuration")
paragraph("Set `vim.g.odin`, a table with any of these:", 0)
add("")
for _, field in ipairs(fields("lua/odin/config.lua")) do
  tagged(("%s  (%s)"):format(field.name, field.kind), "odin-" .. field.name)
  paragraph(field.desc, 8)
end

section("Lua", "odin-lua")
for _, it in ipairs(functions("lua/odin/init.lua")) do
  local name = it.call:match("^[%w_]+")
  tagged(('require("odin").%s'):format(it.call), "odin." .. name .. "()")
  paragraph(it.desc, 8)
end

section("Events", "odin-events")
paragraph(
  "Every event of the server is a |User| autocommand: `OdinTurnStarted`, `OdinToolFinished`, `OdinReviewOpened`, "
    .. "`OdinTurnFinished` and so on, with the event as `data`. `OdinQuestion` comes when something is asked. "
    .. "|LspProgress| tells of the progress of turns.",
  0
)

section("Highlights", "odin-highlights")
local marks = require("odin.marks").HIGHLIGHTS
local names = vim.tbl_keys(marks)
table.sort(names)
for _, name in ipairs(names) do
  tagged(("%s  %s (%s)"):format(name, marks[name].desc, marks[name].link), "hl-" .. name)
end
add("", "vim:tw=78:ts=8:ft=help:norl:")

local target = vim.fs.joinpath(here, "doc/odin.txt")
if vim.tbl_contains(_G.arg or {}, "--check") then
  local written = vim.fn.filereadable(target) == 1 and vim.fn.readfile(target) or {}
  if not vim.deep_equal(written, lines) then
    io.stderr:write("doc/odin.txt is not up to date: nvim -l doc/generate.lua\n")
    os.exit(1)
  end
else
  vim.fn.writefile(lines, target)
end
