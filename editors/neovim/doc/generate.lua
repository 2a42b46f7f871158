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
    local name, kind, desc = line:match("^%-%-%-@field (%S+) (.-) (%u.*)$")
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

add("*odin.txt* *odin*  A coding agent that lives in a language server", "")
paragraph(
  "Install the server with `pipx install odin-lsp` (from a clone: `pipx install /path/to/odin`). It brings this plugin "
    .. "along: `odin-lsp neovim` prints its folder. Make that a |package|:",
  0
)
add(
  ">sh",
  "    mkdir -p ~/.local/share/nvim/site/pack/odin/start",
  '    ln -sfn "$(odin-lsp neovim)" ~/.local/share/nvim/site/pack/odin/start/odin',
  "<",
  "Or name it in your settings:",
  ">lua",
  '    { dir = "/path/to/odin/editors/neovim" } -- lazy.nvim',
  '    vim.opt.runtimepath:prepend("/path/to/odin/editors/neovim") -- by hand',
  '    vim.pack.add({ "file:///path/to/odin" }, { -- Neovim 0.12, from a clone',
  "      load = function(plugin)",
  '        vim.opt.runtimepath:prepend(plugin.path .. "/editors/neovim")',
  '        vim.cmd.runtime("plugin/odin.lua")',
  "      end,",
  "    })",
  "<"
)
paragraph(
  "There is nothing to set up. The server starts with the first file, and |:OdinAsk| sends it a message. "
    .. "|:checkhealth| odin shows what is missing.",
  0
)

section("Commands", "odin-commands")
for _, command in ipairs(require("odin.commands").commands) do
  tagged(require("odin.commands").usage(command), ":" .. command.name)
  paragraph(command.desc, 8)
  add("")
end

section("Review", "odin-review")
paragraph(
  "Odin changes nothing that you have not accepted. Proposed changes are drawn in your buffers and move along while "
    .. "you type. While changes are pending, their buffers have these keys, unless you mapped them yourself "
    .. "(|odin-review_keys|):",
  0
)
add("")
local review_keys = require("odin.config").defaults.review_keys --[[@as table<string, string>]]
for _, name in ipairs({ "accept", "reject", "next", "previous", "reopen", "review-edit" }) do
  add(("    %-12s |<Plug>(odin-%s)|"):format(review_keys[name], name))
end
add("")
paragraph("|:OdinReview| lists all changes, |:OdinUndo| undoes a whole turn.", 0)

section("Questions", "odin-questions")
paragraph(
  "Odin asks before it runs a command that no rule allows, or reads outside the workspace. A float shows the "
    .. "question, its answers and their keys, which work in every mode (|odin-question_keys|). In normal mode, "
    .. "|vim.ui.select()| asks as well.",
  0
)

section("Plans", "odin-plans")
paragraph(
  "|:OdinPlan| writes a plan, a Markdown file with steps. `:OdinPlan run` runs all open steps, `:OdinPlan run 2` one "
    .. "of them. In a plan, |:OdinSteps| runs a step, skips it, marks it as done, or changes the plan. Code lenses "
    .. "above the steps offer the same; |vim.lsp.codelens.run()| runs the one at the cursor.",
  0
)

section("Troubleshooting", "odin-troubleshooting")
paragraph(
  "|:checkhealth| odin shows whether the server is installed, which model answers, and whether an API key is missing. "
    .. "|:OdinRestart| restarts the server; the chat continues its session. `:lua =vim.lsp.log.get_filename()` names "
    .. "the server's log.",
  0
)

section("Maps", "odin-maps")
paragraph("Map these as you like, for instance:", 0)
add(">lua", '    vim.keymap.set({ "n", "x" }, "<Leader>a", "<Plug>(odin-ask)")', "<")
for _, map in ipairs(require("odin.commands").maps()) do
  tagged(("%s  %s"):format(map.lhs, map.call), map.lhs)
end
add("")
paragraph(
  "In the prompt: <CR> in normal mode and <C-s> send (|odin-send_in_insert|), <Tab> chooses the mode, <C-c> cancels "
    .. "the turn, CTRL-X CTRL-O completes /commands and @mentions, as do plugins that complete through language "
    .. "servers (|odin-autocomplete|), q closes the chat. In the chat: i writes a message, p shows earlier ones, <C-c> "
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

section("Language servers", "odin-language-servers")
paragraph(
  "Odin asks the language servers that you run in Neovim: where something is defined, who uses it, what an edit has "
    .. "broken. They see your buffers, saved or not. There is nothing to set up. Where Neovim has no server for a "
    .. "language, Odin starts one of its own, if it is installed.",
  0
)
add("")
paragraph(
  "Odin waits for a server that is still loading the project, or says that its answer may be incomplete. It does not "
    .. "rename a symbol before the server is ready. To ask about a file that you have not opened, it loads it into an "
    .. "unlisted buffer without a swap file, and unloads that after 30 seconds. |FileType| and |BufReadPost| "
    .. "autocommands run for it.",
  0
)
add("")
paragraph(
  "The chat shows which errors and warnings an edit introduced or fixed. `odin-lsp doctor` in a terminal lists the "
    .. "servers that Odin starts itself, and `languageServers` in odinconfig.json changes them.",
  0
)

section("Lua", "odin-lua")
for _, it in ipairs(functions("lua/odin/init.lua")) do
  local name = it.call:match("^[%w_]+")
  tagged(('require("odin").%s'):format(it.call), "odin." .. name .. "()")
  paragraph(it.desc, 8)
end

section("Events", "odin-events")
paragraph(
  "Every event of the server is a |User| autocommand: `OdinTurnStarted`, `OdinToolFinished`, `OdinReviewOpened`, "
    .. "`OdinTurnFinished` and so on, with the event as `data`. `OdinQuestion` comes with every question. "
    .. "|LspProgress| reports the progress of turns.",
  0
)

section("Highlights", "odin-highlights")
local marks = require("odin.review.marks").HIGHLIGHTS
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
  vim.cmd.helptags(vim.fs.dirname(target)) -- for those who install it without a plugin manager
end
