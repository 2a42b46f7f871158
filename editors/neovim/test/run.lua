-- Runs the tests of the files that are named, or of all: `nvim -l test/run.lua test/words.lua`. A file returns a table:
-- what it shows → a function that fails if it is not so.

local here = vim.fs.dirname(vim.fs.normalize(debug.getinfo(1, "S").source:sub(2)))
vim.opt.runtimepath:prepend(vim.fs.dirname(here))

---@param got any
---@param expected any
function _G.equals(got, expected)
  if not vim.deep_equal(got, expected) then
    error(("expected %s\n     got %s"):format(vim.inspect(expected), vim.inspect(got)), 2)
  end
end

---@type string[]
local files = _G.arg and #_G.arg > 0 and _G.arg or vim.fn.glob(here .. "/*.lua", true, true)
local run, failed = 0, 0
for _, file in ipairs(files) do
  local name = vim.fs.basename(file)
  for shown, test in vim.spairs(name ~= "run.lua" and dofile(file) or {}) do
    local ok, problem = xpcall(test, debug.traceback)
    run, failed = run + 1, failed + (ok and 0 or 1)
    if not ok then
      io.stderr:write(("%s: %s\n%s\n\n"):format(name, shown, problem))
    end
  end
end
io.stdout:write(("%d tests, %d failed\n"):format(run, failed))
os.exit(run > 0 and failed == 0 and 0 or 1)
