-- What the plugin costs Neovim, in seconds of processor time, as JSON: a configuration that ends when it has measured.
-- `--cmd "let g:bench = [PLUGIN, FOLDER, HUNKS, TIMES]"` goes before it.

local plugin, folder, hunks, times = unpack(vim.g.bench)

local function seconds(work)
  local began = os.clock()
  work()
  return os.clock() - began
end

local found = { redraw = {}, marks = {} }

vim.opt.runtimepath:prepend(plugin)
vim.api.nvim_get_runtime_file("lua/none", false) -- Neovim looks through its folders anew
found.start = seconds(function()
  vim.cmd.source(plugin .. "/plugin/odin.lua")
end)
assert(not package.loaded["vim.lsp"], "it waits for the first file")

local path = folder .. "/long.py"
local lines = {}
for line = 1, hunks * 10 do
  lines[line] = ("value_%d = %d"):format(line, line)
end
vim.fn.writefile(lines, path)
vim.cmd.edit(path)

local function hunk(number)
  local line = number * 10 - 5
  return {
    id = tostring(number),
    range = { start = { line = line, character = 0 }, ["end"] = { line = line + 1, character = 0 } },
    oldText = lines[line + 1] .. "\n",
    newText = ("value_%d = 0\nmore = 1\n"):format(number),
    reason = "it is wrong",
    state = "pending",
  }
end

local proposed = {}
for number = 1, hunks do
  proposed[number] = hunk(number)
end
local file = { uri = vim.uri_from_fname(path), operation = "edit", hunks = proposed, proposedText = "" }
local review = require("odin.review")
local client = { id = 1, config = { root_dir = folder }, offset_encoding = "utf-16" }
found.open = seconds(function()
  review.open({ proposalId = "p", files = { file } }, client)
end)

local plain = vim.api.nvim_create_namespace("plain")
for turn = 1, times do
  review.change("p", { hunk(turn % hunks + 1) })
  found.redraw[turn] = seconds(review.redraw)
  found.marks[turn] = seconds(function()
    vim.api.nvim_buf_clear_namespace(0, plain, 0, -1)
    for number = 1, hunks do
      vim.api.nvim_buf_set_extmark(0, plain, number * 10 - 5, 0, { virt_lines = { { { "more = 1" } } } })
    end
  end)
end

local drawn = 0
for name, namespace in pairs(vim.api.nvim_get_namespaces()) do
  if vim.startswith(name, "odin") then
    drawn = drawn + #vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, {})
  end
end
assert(drawn >= hunks, drawn .. " marks")
vim.fn.writefile({ vim.json.encode(found) }, folder .. "/found.json")
vim.cmd.qall({ bang = true })
