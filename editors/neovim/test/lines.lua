local lines = require("odin.session.lines")

local ROOT = "/home/me/work"
local ASKED = {
  title = "Which?",
  options = { { id = "a", label = "Tabs" }, { id = "b", label = "Spaces" } },
}

return {
  ["what the user said stands below its mode"] = function()
    equals(lines.heading({ mode = "ask_mode", text = "why\nso?" }, ROOT), { "## Ask", "", "why", "so?" })
    equals(lines.heading({ mode = "edit_mode" }, ROOT), { "## Edit" })
  end,
  ["what went with a message is named below it"] = function()
    local uri = "file:///home/me/work/a.py"
    local event = {
      mode = "ask_mode",
      text = "why?",
      attached = { { digest = "d", mediaType = "image/png", name = "shot.png" } },
      context = {
        { kind = "selection", uri = uri, firstLine = 2, lastLine = 3 },
        { kind = "selection", uri = uri, firstLine = 2, lastLine = 2 },
        { kind = "selection", uri = uri, firstLine = 5, lastLine = 9, name = "greet" },
        { kind = "diagnostics", uri = uri },
        { kind = "file", uri = "file:///home/me/work/b.py" },
        { kind = "text" },
      },
    }
    local with = "*with shot.png, a.py:2-3, a.py:2, greet, problems in a.py, b.py, text*"
    equals(lines.heading(event, ROOT), { "## Ask", "", "why?", "", with })
  end,
  ["todos are boxes, and what is done now stands out"] = function()
    local todos = {
      { content = "look", status = "completed" },
      { content = "write\nit", status = "in_progress" },
      { content = "test", status = "pending" },
    }
    equals(lines.todos(todos), { "- [x] look", "- [ ] **write ⏎ it**", "- [ ] test" })
  end,
  ["a question is told with its topic and its command"] = function()
    equals(lines.question({ title = "Which?", header = "Indentation" }), "- ? Indentation: Which?")
    equals(lines.question({ title = "May I?", command = "rm x" }, "Deny"), "- ? May I? `rm x`: Deny")
  end,
  ["an answer is told in the words of the question"] = function()
    equals(lines.answer(ASKED, { optionIds = { "b", "a" } }), "Tabs; Spaces")
    equals(lines.answer(ASKED, { text = "neither" }), "neither")
    equals(lines.answer(ASKED, { optionIds = {}, command = "ls" }), "`ls` in its place")
    equals(lines.answer(ASKED, {}), "no answer")
  end,
  ["a file's hunks are counted by what became of them"] = function()
    local told = { { label = "a.py", hunks = { "1", "2", "3" } } }
    local states = { ["1"] = "rejected", ["2"] = "pending", ["3"] = "accepted" }
    equals(lines.review(told, states, "waiting"), { "- ± a.py: 1 accepted, 1 rejected, 1 waiting" })
  end,
  ["a file is known by its path in the project and by what would become of it"] = function()
    local uri = "file:///home/me/work/src/a.py"
    equals(lines.label({ uri = uri, operation = "edit" }, ROOT), "src/a.py")
    equals(lines.label({ uri = uri, operation = "delete" }, ROOT), "src/a.py (delete)")
    local renamed = { uri = uri, newUri = "file:///home/me/work/b.py", operation = "rename" }
    equals(lines.label(renamed, ROOT), "src/a.py → b.py")
  end,
  ["problems are told by their fate, their place and their source"] = function()
    local uri = "file:///home/me/work/a.py"
    local event = {
      introduced = { { uri = uri, line = 3, severity = "error", message = "no\nname", source = "Ruff", code = "F8" } },
      fixed = { { uri = uri, line = 4, severity = "warning", message = "unused" } },
      leftOff = 2,
    }
    equals(lines.problems(event, ROOT), {
      "- ✗ introduced: a.py:3 no ⏎ name [Ruff F8]",
      "- ✓ fixed: a.py:4 warning: unused",
      "- … 2 more",
    })
  end,
  ["a subagent is told while it works and when it has ended"] = function()
    equals(lines.subagent("look around"), "- ⋯ subagent: look around")
    equals(lines.subagent("look around", "completed", "all is well"), "- ✓ subagent: look around: all is well")
    equals(lines.subagent("look around", "failed", ""), "- ✗ subagent: look around (failed)")
  end,
  ["what helps depends on what was wrong"] = function()
    local function help(problem, at)
      return lines.help({ reason = "error", problem = problem }, at) or ""
    end
    equals(help({ kind = "key", provider = "google" }):match("%$[%w_]+"), "$GEMINI_API_KEY")
    equals(help({ kind = "limited" }), ":OdinContinue continues the turn, in a while")
    local when = "the provider may answer again at " .. os.date("%H:%M", 119)
    equals(vim.startswith(help({ kind = "limited", retryAfter = 60 }, 0), when), true)
    equals(help({ kind = "too_long" }), ":OdinSessions new starts a new session")
    equals(lines.help({ reason = "max_steps" }), ":OdinContinue continues the turn")
    equals(lines.help({ reason = "end_turn" }), nil)
  end,
  ["an undone turn says what was not restored, and why"] = function()
    local event = {
      restored = { "file:///home/me/work/a.py" },
      kept = { { uri = "file:///home/me/work/b.py", reason = "it has changed since" } },
    }
    equals(lines.undone(event, ROOT), "undone: 1 file restored; b.py stays: it has changed since")
  end,
}
