-- Every command and every `<Plug>` map, as data: the help is made from it.

local M = {}

local SESSION_ACTIONS = { "new", "earlier", "search", "fork", "rename", "export", "delete" }

local function server()
  return require("odin.server")
end

---@return string
local function root()
  return server().root_of(0)
end

---Take the text from the command line, or ask for it, and send it with what was selected.
---@param mode "ask"|"plan"|"edit"
local function speak(mode)
  return function(args)
    local context = {}
    if args.range > 0 then
      context = require("odin.context").of_range(0, args.line1, args.line2)
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

---The hunks that a command is about: all of them, those of its range, or the one at the cursor.
---@param args { bang?: boolean, line1: integer, line2: integer }
---@param among? fun(root?: string): odin.OpenHunk[]
local function chosen(args, among)
  local review = require("odin.review")
  among = among or review.pending
  if args.bang then
    return among(root())
  end
  return review.within(among(), vim.api.nvim_get_current_buf(), args.line1, args.line2)
end

---Where nothing was decided the user chooses: what was accepted may have taken its place with it, as a deletion does.
local function reopen(args)
  local review = require("odin.review")
  local here, decided = chosen(args, review.decided), review.decided(root())
  if #here > 0 or #decided == 0 then
    review.reopen(here)
    return
  end
  require("odin.walk").pick(decided, "Odin's decided changes", function(it)
    review.reopen({ it })
  end)
end

local function complete_from(words)
  return function(lead)
    return vim.tbl_filter(function(word)
      return vim.startswith(word, lead)
    end, words)
  end
end

local function complete_mentions(lead)
  if not lead:find("^[@#]") then
    return {}
  end
  return require("odin.context").complete(0, lead)
end

local function open_review(args)
  local review = require("odin.review")
  local here = chosen({ line1 = vim.fn.line("."), line2 = vim.fn.line(".") })[1]
  local pending = review.pending(root())
  if #pending == 0 then
    server().say("nothing to review")
  elseif args.args == "edit" then
    if here then
      require("odin.amend").open(here)
    else
      server().say("no pending change here", vim.log.levels.WARN)
    end
  elseif args.args == "diff" then
    local bufnr = vim.api.nvim_get_current_buf()
    local in_buffer = vim.tbl_filter(function(it)
      return it.bufnr == bufnr
    end, pending)
    require("odin.diff").open((in_buffer[1] or pending[1]).file)
  elseif args.args == "pick" then
    require("odin.walk").pick(pending, "Odin's changes", require("odin.walk").go_to)
  else
    require("odin.walk").list()
    vim.cmd("botright copen")
  end
end

---All that comments of the workspace ask for, together.
local function take_comments(args)
  local mode = args.args == "ask" and "ask" or "edit"
  server().execute(root(), "commentRequests", { kind = mode }, function(found)
    if #found.requests == 0 then
      local mark = mode == "ask" and "?" or "!"
      return server().say(("no comment in this workspace ends in `odin%s` or `AI%s`"):format(mark, mark))
    end
    require("odin").send(mode, found.text, {})
  end)
end

---@type string? The last undo, which can be undone.
local last_undo

local function undo(args)
  local file = args.args ~= "" and vim.fn.expand(args.args) or ""
  local argument = {}
  if args.bang then
    if not last_undo then
      return server().say("nothing was undone that could be brought back")
    end
    argument.turnId = last_undo
  elseif vim.uv.fs_stat(file) then
    argument.uri = vim.uri_from_fname(vim.fn.fnamemodify(file, ":p"))
  elseif args.args ~= "" then
    argument.turnId = args.args
  end
  server().execute(root(), "undoTurn", argument, function(result)
    last_undo = result.undoId
    local kept = vim.tbl_map(function(it)
      return ("%s stays: %s"):format(vim.fn.fnamemodify(vim.uri_to_fname(it.uri), ":."), it.reason)
    end, result.kept)
    local restored = require("odin.words").count(#result.restored, "file") .. " restored"
    server().say(table.concat(vim.list_extend({ restored }, kept), "; "))
  end)
end

---@param name "models"|"roles"
local function complete_choices(name)
  return function(lead)
    return complete_from(require("odin.choices")[name](root()))(lead)
  end
end

---The last turn goes on in the chat; after a start of Neovim, that of the last session.
local function go_on()
  local here = root()
  local chat = require("odin.chat").of_root(here)
  require("odin.chat").open(here, { enter = false })
  if chat.session then
    chat:go_on()
    return
  end
  require("odin.sessions").resume(here, nil, function()
    chat:go_on()
  end)
end

---@class odin.Command
---@field name string
---@field args string What follows it, for the help.
---@field desc string
---@field run fun(args: table)
---@field opts table<string, any>

---@type odin.Command[]
M.commands = {
  {
    name = "OdinAsk",
    args = "[text]",
    desc = "Ask a question. With a range, the selected text goes with it: its file, its place and the diagnostics "
      .. "in it. Without text it is asked for. `@path`, `#selection`, `#diagnostics` in the text add what they name.",
    run = speak("ask"),
    opts = { nargs = "*", range = true, complete = complete_mentions },
  },
  {
    name = "OdinPlan",
    args = "[text]",
    desc = "Have a change planned; nothing is changed.",
    run = speak("plan"),
    opts = { nargs = "*", range = true, complete = complete_mentions },
  },
  {
    name = "OdinEdit",
    args = "[text]",
    desc = "Have something changed; every change is reviewed.",
    run = speak("edit"),
    opts = { nargs = "*", range = true, complete = complete_mentions },
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
        require("odin.upkeep").cancel_compaction(root())
        return
      end
      local queue = args.bang or vim.tbl_contains({ "next", "return" }, args.args) and args.args or nil
      require("odin").cancel({ queue = queue, drop = args.args == "drop" })
    end,
    opts = { bang = true, nargs = "?", complete = complete_from({ "drop", "next", "return", "compaction" }) },
  },
  {
    name = "OdinSteer",
    args = "[text]",
    desc = "Say something into the running turn. The model reads it before its next step.",
    run = function(args)
      require("odin.upkeep").steer(root(), args.args)
    end,
    opts = { nargs = "*" },
  },
  {
    name = "OdinChat",
    args = "",
    desc = "Open the chat and go to its prompt; close it if it is open.",
    run = function()
      if not require("odin.chat").close(root()) then
        require("odin.chat").open(root(), { enter = true })
      end
    end,
    opts = {},
  },
  {
    name = "OdinSessions",
    args = "[new|earlier|search|fork|rename|export|delete]",
    desc = "Go on with an earlier session; the chat shows what has happened in it. Begin a new one. Show what comes "
      .. "before the first message in the chat. Search what was asked and answered. Go on with a fork of the session, "
      .. "rename it, export it to a file, or delete one of the sessions.",
    run = function(args)
      require("odin.sessions").act(root(), args.args)
    end,
    opts = { nargs = "?", complete = complete_from(SESSION_ACTIONS) },
  },
  {
    name = "OdinContinue",
    args = "",
    desc = "Send the messages that wait since a turn was canceled. If none waits: go on with the last turn where it "
      .. "was cut off or has failed. Nothing is said or read again.",
    run = go_on,
    opts = {},
  },
  {
    name = "OdinNote",
    args = "[text]",
    desc = "Add a note to the session. The model reads it with your next message.",
    run = function(args)
      require("odin.upkeep").note(root(), args.args)
    end,
    opts = { nargs = "*" },
  },
  {
    name = "OdinRemoveLast",
    args = "",
    desc = "Remove the last message from what the model reads: its answer, or what you said or noted after it. "
      .. "`:OdinContinue` then asks for another answer.",
    run = function()
      require("odin.upkeep").remove_last(root())
    end,
    opts = {},
  },
  {
    name = "OdinCompact",
    args = "[focus]",
    desc = "Replace the older messages of the session by a summary. The focus says what it should keep above all; "
      .. "without one you are asked, and may leave it empty.",
    run = function(args)
      require("odin.upkeep").compact(root(), args.args)
    end,
    opts = { nargs = "*" },
  },
  {
    name = "OdinClear",
    args = "",
    desc = "Clear the session, after a question: its messages and todos are forgotten, files stay as they are. You "
      .. "cannot undo this. With ! you are not asked.",
    run = function(args)
      require("odin.upkeep").clear(root(), args.bang)
    end,
    opts = { bang = true },
  },
  {
    name = "OdinReview",
    args = "[list|pick|diff|edit]",
    desc = "List all pending changes in the quickfix window; choose one to go to; show a file and what it would "
      .. "become in a tab; edit the lines of the change at the cursor before accepting it.",
    run = open_review,
    opts = { nargs = "?", complete = complete_from({ "list", "pick", "diff", "edit" }) },
  },
  {
    name = "OdinAccept",
    args = "[rest]",
    desc = "Accept the change at the cursor, or those in the range; with ! all of them. With `rest`, all that the "
      .. "turn still proposes, too.",
    run = function(args)
      if args.args == "rest" then
        require("odin.review").accept_rest(root())
      else
        require("odin.review").accept(chosen(args))
      end
    end,
    opts = { bang = true, range = true, nargs = "?", complete = complete_from({ "rest" }) },
  },
  {
    name = "OdinReject",
    args = "[reason]",
    desc = "Reject the change at the cursor, or those in the range; with ! all of them. The reason is for the model.",
    run = function(args)
      require("odin.review").reject(chosen(args), args.args)
    end,
    opts = { bang = true, range = true, nargs = "*" },
  },
  {
    name = "OdinReopen",
    args = "",
    desc = "Take back what was decided on the change at the cursor, or on those in the range; with ! on all of them. "
      .. "They wait again, and the text is as before. Where nothing was decided, choose a change.",
    run = reopen,
    opts = { bang = true, range = true },
  },
  {
    name = "OdinUndo",
    args = "[turn|file]",
    desc = "Undo what the last turn changed in all files, or in one: `:OdinUndo %`. What you typed since stays. "
      .. "With ! bring back what was undone last.",
    run = undo,
    opts = { nargs = "?", bang = true },
  },
  {
    name = "OdinModel",
    args = "[provider/model[@effort]]",
    desc = "Tell which model is used, or choose one, which is remembered for this project. `@low`, `@medium` or "
      .. "`@high` says how hard it should think. `settings` goes back to the model of the settings.",
    run = function(args)
      require("odin.choices").choose_model(root(), args.args)
    end,
    opts = { nargs = "?", complete = complete_choices("models") },
  },
  {
    name = "OdinRole",
    args = "[role]",
    desc = "Switch to another role: its prompt, models, tools and rules apply from the next message on. Without a "
      .. "name, choose one.",
    run = function(args)
      require("odin.choices").choose_role(root(), args.args)
    end,
    opts = { nargs = "?", complete = complete_choices("roles") },
  },
  {
    name = "OdinPermissions",
    args = "",
    desc = "List what you have allowed, in this session or for good. The approval that you choose is removed.",
    run = function()
      require("odin.choices").manage_approvals(root())
    end,
    opts = {},
  },
  {
    name = "OdinExtensions",
    args = "",
    desc = "List skills, commands, agents, hooks and MCP servers, and why one is not used. The one that you choose is "
      .. "switched off or on until Odin ends, or its file is opened.",
    run = function()
      require("odin.choices").extensions(root())
    end,
    opts = {},
  },
  {
    name = "OdinTrust",
    args = "[restrict]",
    desc = "Trust the workspace's own `odinconfig.json` as it is now. With `restrict` it can only restrict.",
    run = function(args)
      require("odin.choices").decide_trust(root(), args.args == "restrict" and "restrict" or "trust")
    end,
    opts = { nargs = "?", complete = complete_from({ "restrict" }) },
  },
  {
    name = "OdinContext",
    args = "",
    desc = "Show what the next message would send to the model, word for word: instructions, tools and messages, with "
      .. "their tokens and their cost.",
    run = function()
      require("odin.choices").show_context(root())
    end,
    opts = {},
  },
  {
    name = "OdinSteps",
    args = "",
    desc = "In a plan: choose what to do. Run its open steps, run, skip or tick a step, open it again, or have the "
      .. "plan changed. What is for the step at the cursor comes first.",
    run = function()
      require("odin.plans").choose(vim.api.nvim_get_current_buf())
    end,
    opts = {},
  },
  {
    name = "OdinComments",
    args = "[ask]",
    desc = "Do what comments of the workspace ask for that end in `odin!` or `AI!`, all in one turn. With "
      .. "`ask`, answer those that end in `odin?` or `AI?`.",
    run = take_comments,
    opts = { nargs = "?", complete = complete_from({ "ask" }) },
  },
  {
    name = "OdinInit",
    args = "",
    desc = "Have the project's ODIN.md written.",
    run = function()
      require("odin.chat").open(root(), { enter = false })
      require("odin.chat").of_root(root()):send("init", "")
    end,
    opts = {},
  },
  {
    name = "OdinRestart",
    args = "",
    desc = "Start the server again. The chat goes on with its session, as it was kept.",
    run = function()
      server().restart(root())
    end,
    opts = {},
  },
}

---@type { lhs: string, mode: string[], rhs: string|fun(), desc: string }[]
M.maps = {
  { lhs = "<Plug>(odin-ask)", mode = { "n", "x" }, rhs = ":OdinAsk<CR>", desc = "`:OdinAsk`" },
  { lhs = "<Plug>(odin-plan)", mode = { "n", "x" }, rhs = ":OdinPlan<CR>", desc = "`:OdinPlan`" },
  { lhs = "<Plug>(odin-edit)", mode = { "n", "x" }, rhs = ":OdinEdit<CR>", desc = "`:OdinEdit`" },
  { lhs = "<Plug>(odin-chat)", mode = { "n" }, rhs = "<Cmd>OdinChat<CR>", desc = "`:OdinChat`" },
  { lhs = "<Plug>(odin-cancel)", mode = { "n" }, rhs = "<Cmd>OdinCancel<CR>", desc = "`:OdinCancel`" },
  { lhs = "<Plug>(odin-accept)", mode = { "n", "x" }, rhs = ":OdinAccept<CR>", desc = "`:OdinAccept`" },
  { lhs = "<Plug>(odin-reject)", mode = { "n", "x" }, rhs = ":OdinReject<CR>", desc = "`:OdinReject`" },
  { lhs = "<Plug>(odin-reopen)", mode = { "n", "x" }, rhs = ":OdinReopen<CR>", desc = "`:OdinReopen`" },
  { lhs = "<Plug>(odin-review-edit)", mode = { "n" }, rhs = "<Cmd>OdinReview edit<CR>", desc = "`:OdinReview edit`" },
  {
    lhs = "<Plug>(odin-next)",
    mode = { "n" },
    rhs = function()
      require("odin.walk").jump(1)
    end,
    desc = "go to the next pending change",
  },
  {
    lhs = "<Plug>(odin-previous)",
    mode = { "n" },
    rhs = function()
      require("odin.walk").jump(-1)
    end,
    desc = "go to the pending change before",
  },
}

function M.define()
  for _, command in ipairs(M.commands) do
    local opts = vim.tbl_extend("force", { desc = command.desc }, command.opts)
    vim.api.nvim_create_user_command(command.name, command.run, opts)
  end
  for _, map in ipairs(M.maps) do
    vim.keymap.set(map.mode, map.lhs, map.rhs, { desc = "Odin: " .. map.desc, silent = true })
  end
  require("odin.context").follow()
  require("odin.files").follow()
  require("odin.peers").follow()
end

return M
