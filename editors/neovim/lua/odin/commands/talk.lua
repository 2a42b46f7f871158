-- What is said to Odin, and where.

local completion = require("odin.commands.completion")
local request = require("odin.client.request")
local roots = require("odin.client.roots")
local words = require("odin.words")

---Take the text from the command line, or ask for it, and send it with what was selected.
---@param mode "ask"|"plan"|"edit"
local function speak(mode)
  return function(args)
    local context = {}
    if args.range > 0 then
      context = require("odin.chat.context").of_range(0, args.line1, args.line2)
    end
    if vim.trim(args.args) ~= "" then
      require("odin").send(mode, args.args, context)
      return
    end
    vim.ui.input({ prompt = ("Odin %s: "):format(mode) }, function(text)
      if text and vim.trim(text) ~= "" then
        require("odin").send(mode, text, context)
      end
    end)
  end
end

---Which steps of a plan are to be run; nothing, if the text says something else.
---@param text string `run`, and numbers.
---@return integer[]?
local function steps_to_run(text)
  local numbers = vim.trim(text):match("^run([%s%d,]*)$")
  return numbers and vim.iter(numbers:gmatch("%d+")):map(tonumber):totable()
end

local function plan(args)
  local steps = steps_to_run(args.args)
  if steps then
    require("odin.plans").run(vim.api.nvim_get_current_buf(), steps)
  else
    speak("plan")(args)
  end
end

local function act_on_plan(args)
  local bufnr, steps = vim.api.nvim_get_current_buf(), steps_to_run(args.args)
  if steps then
    require("odin.plans").run(bufnr, steps)
  else
    require("odin.plans").choose(bufnr)
  end
end

---All that comments of the workspace ask for, together.
local function take_comments(args)
  local mode = args.args == "ask" and "ask" or "edit"
  request.execute(roots.of(0), "commentRequests", { kind = mode }, function(found)
    if #found.requests == 0 then
      local mark = mode == "ask" and "?" or "!"
      return words.say(("no comment in this workspace ends in `odin%s` or `AI%s`"):format(mark, mark))
    end
    require("odin").send(mode, found.text, {})
  end)
end

---@type odin.Command[]
return {
  {
    name = "OdinAsk",
    args = "[text]",
    desc = "Ask a question. With a range, the selected text goes with it: its file, its place and the diagnostics "
      .. "in it. Without text it is asked for. `@path`, `#selection`, `#diagnostics` in the text add what they name. "
      .. "`/name` at its beginning is a command: `/help` lists them.",
    run = speak("ask"),
    opts = { nargs = "*", range = true, complete = completion.mentions },
  },
  {
    name = "OdinPlan",
    args = "[text|run [step]]",
    desc = "Have a change planned; nothing is changed. With `run`, carry out the open steps of the plan in this "
      .. "buffer, or else of the last one; `run 2 3` names steps.",
    run = plan,
    opts = { nargs = "*", range = true, complete = completion.plan },
  },
  {
    name = "OdinEdit",
    args = "[text]",
    desc = "Have something changed; every change is reviewed.",
    run = speak("edit"),
    opts = { nargs = "*", range = true, complete = completion.mentions },
  },
  {
    name = "OdinChat",
    args = "",
    desc = "Go to the prompt of the chat, which opens if it is not there. In the chat: close it.",
    run = function()
      local layout = require("odin.chat.window")
      if not layout.is_ours(vim.api.nvim_get_current_buf()) or not layout.close(roots.of(0)) then
        require("odin.chat").open(roots.of(0), { enter = true })
      end
    end,
    opts = {},
  },
  {
    name = "OdinCancel",
    args = "[drop|next|return|compaction]",
    desc = "Cancel the running turn. Changes wait on for their review; with `drop` they are rejected. Queued messages "
      .. "wait until you send another one or `:OdinContinue`. With `next` the next one is sent at once, with `return` "
      .. "they are put back into the prompt, with ! they are forgotten. With `compaction` only the summary that is "
      .. "being written is canceled; the turn continues.",
    run = function(args)
      if args.args == "compaction" then
        require("odin.session.upkeep").cancel_compaction(roots.of(0))
        return
      end
      local queue = args.bang or vim.tbl_contains({ "next", "return" }, args.args) and args.args or nil
      require("odin").cancel({ queue = queue, drop = args.args == "drop" })
    end,
    opts = { bang = true, nargs = "?", complete = completion.among({ "drop", "next", "return", "compaction" }) },
  },
  {
    name = "OdinSteer",
    args = "[text]",
    desc = "Say something into the running turn. The model reads it before its next step.",
    run = function(args)
      require("odin.session.upkeep").steer(roots.of(0), args.args)
    end,
    opts = { nargs = "*" },
  },
  {
    name = "OdinPaste",
    args = "",
    desc = "Mention the image that is in the clipboard in the prompt. Needs wl-paste, xclip or pngpaste.",
    run = function()
      require("odin.chat.paste").into_prompt(roots.of(0))
    end,
    opts = {},
  },
  {
    name = "OdinSteps",
    args = "[run [step]]",
    desc = "In a plan: choose what to do. Run its open steps, run, skip or tick a step, open it again, or have the "
      .. "plan changed. What is for the step at the cursor comes first. `run` is that of `:OdinPlan`.",
    run = act_on_plan,
    opts = { nargs = "*", complete = completion.among({ "run" }) },
  },
  {
    name = "OdinComments",
    args = "[ask]",
    desc = "Do what comments of the workspace ask for that end in `odin!` or `AI!`, all in one turn. With "
      .. "`ask`, answer those that end in `odin?` or `AI?`.",
    run = take_comments,
    opts = { nargs = "?", complete = completion.among({ "ask" }) },
  },
  {
    name = "OdinInit",
    args = "",
    desc = "Have the project's ODIN.md written.",
    run = function()
      require("odin.chat").open(roots.of(0), { enter = false })
      require("odin.chat").of_root(roots.of(0)):send("init", "")
    end,
    opts = {},
  },
}
