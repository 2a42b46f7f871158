local routines = require("odin.client.routines")

return {
  ["what goes wrong behind a question is told"] = function()
    local later = {}
    local before = vim.schedule
    vim.schedule = function(run)
      table.insert(later, run)
    end
    local routine = coroutine.create(function()
      error("nobody saw this")
    end)
    routines.resume(routine)
    vim.schedule = before
    local ok, problem = pcall(later[1])
    equals(ok, false)
    assert(problem:find("nobody saw this", 1, true) and problem:find("traceback", 1, true), problem)
  end,
  ["what goes well is given on"] = function()
    local got
    local routine = coroutine.create(function(value)
      got = value
    end)
    routines.resume(routine, "an answer")
    equals(got, "an answer")
  end,
}
