-- What is said to Odin, and where.

local completion = require("odin.commands.completion")
local roots = require("odin.client.roots")

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
    require("odin.screen").ask(("Odin %s:"):format(mode), function(text)
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
  require("odin.client.request").execute(roots.of(0), "commentRequests", { kind = mode }, function(found)
    if #found.requests == 0 then
      local mark = mode == "ask" and "?" or "!"
      return require("odin.words").say(("no comment in this workspace ends in `odin%s` or `AI%s`"):format(mark, mark))
    end
    local root = roots.of(0)
    require("odin.chat").open(root, { enter = false })
    require("odin.chat").of_root(root):send(mode, found.text, {}, true)
  end)
end

---@type odin.Command[]
return {
  {
    name = "OdinAsk",
    args = { "{text}" },
    complete = completion.message,
    range = true,
    maps = { ask = "" },
    desc = "Ask a question. With a range, the selection is sent along with its file, position and diagnostics. Without "
      .. "{text}, Odin prompts for it. `@path`, `@name`, `@selection` and `@problems` attach that item. `/name` at "
      .. "the start is a command: `/help` lists them.",
    run = speak("ask"),
  },
  {
    name = "OdinPlan",
    args = { "{text}", "run [{step}]" },
    complete = completion.message,
    range = true,
    maps = { plan = "" },
    desc = "Plan a change. Odin changes no files. `run` runs the open steps of the plan in this buffer, or else of the "
      .. "last plan; `run 2 3` runs these steps.",
    run = plan,
  },
  {
    name = "OdinEdit",
    args = { "{text}" },
    complete = completion.message,
    range = true,
    maps = { edit = "" },
    desc = "Ask Odin for a change. You review every edit.",
    run = speak("edit"),
  },
  {
    name = "OdinChat",
    maps = { chat = "" },
    desc = "Go to the prompt of the chat, and open the chat if it is closed. In the chat: close it.",
    run = function()
      local layout = require("odin.chat.window")
      if not layout.is_ours(vim.api.nvim_get_current_buf()) or not layout.close(roots.of(0)) then
        require("odin.chat").open(roots.of(0), { enter = true })
      end
    end,
  },
  {
    name = "OdinCancel",
    args = { "drop", "next", "return", "compaction" },
    bang = true,
    maps = { cancel = "" },
    desc = "Cancel the running turn. Pending changes stay; `drop` rejects them. Queued messages wait until you send "
      .. "another one or use `:OdinContinue`. `next` sends the next one at once, `return` puts them back into the "
      .. "prompt, ! deletes them. `compaction` cancels only the summary that Odin is writing; the turn continues.",
    run = function(args)
      if args.args == "compaction" then
        require("odin.session.upkeep").cancel_compaction(roots.of(0))
        return
      end
      local queue = args.bang or vim.tbl_contains({ "next", "return" }, args.args) and args.args or nil
      require("odin").cancel({ queue = queue, drop = args.args == "drop" })
    end,
  },
  {
    name = "OdinSteer",
    args = { "{text}" },
    desc = "Send a message into the running turn. The model reads it before its next step.",
    run = function(args)
      require("odin.session.upkeep").steer(roots.of(0), args.args)
    end,
  },
  {
    name = "OdinPaste",
    desc = "Mention the image from the clipboard in the prompt. Needs wl-paste, xclip or pngpaste.",
    run = function()
      require("odin.chat.paste").into_prompt(roots.of(0))
    end,
  },
  {
    name = "OdinSteps",
    args = { "run [{step}]" },
    desc = "In a plan: select what to do. Run the open steps; run a step, skip it, mark it as done or open it again; "
      .. "change the plan. The step at the cursor comes first. `run` is the same as in `:OdinPlan`.",
    run = act_on_plan,
  },
  {
    name = "OdinComments",
    args = { "ask" },
    desc = "Do what comments in the workspace ask for that end in `odin!` or `AI!`, all in one turn. `ask` answers "
      .. "those that end in `odin?` or `AI?`.",
    run = take_comments,
  },
  {
    name = "OdinInit",
    desc = "Write ODIN.md for this project.",
    run = function()
      require("odin.chat").open(roots.of(0), { enter = false })
      require("odin.chat").of_root(roots.of(0)):send("init", "")
    end,
  },
}
