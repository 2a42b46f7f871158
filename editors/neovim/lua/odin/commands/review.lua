-- What is decided on changes.

local roots = require("odin.client.roots")

---The hunks that a command is about: all of them, those of its range, or the one at the cursor.
---@param args { bang?: boolean, line1: integer, line2: integer }
---@param among? fun(root?: string): odin.OpenHunk[]
local function chosen(args, among)
  local review = require("odin.review")
  among = among or review.pending
  if args.bang then
    return among(roots.of(0))
  end
  return review.within(among(), vim.api.nvim_get_current_buf(), args.line1, args.line2)
end

---Where nothing was decided the user chooses: what was accepted may have taken its place with it, as a deletion does.
local function reopen(args)
  local review = require("odin.review")
  local here, decided = chosen(args, review.decided), review.decided(roots.of(0))
  if #here > 0 or #decided == 0 then
    review.reopen(here)
    return
  end
  require("odin.review.walk").pick(decided, "Decided changes", function(it)
    review.reopen({ it })
  end)
end

local function open_review(args)
  local review, walk = require("odin.review"), require("odin.review.walk")
  if args.args == "next" or args.args == "previous" then
    walk.jump(args.args == "next" and 1 or -1)
    return
  end
  local here = chosen({ line1 = vim.fn.line("."), line2 = vim.fn.line(".") })[1]
  local pending = review.pending(roots.of(0))
  if #pending == 0 then
    require("odin.words").say("nothing to review")
  elseif args.args == "edit" then
    if here then
      require("odin.review.edit").open(here)
    else
      require("odin.words").say("no pending change here", vim.log.levels.WARN)
    end
  elseif args.args == "diff" then
    local bufnr = vim.api.nvim_get_current_buf()
    local in_buffer = vim.tbl_filter(function(it)
      return it.bufnr == bufnr
    end, pending)
    require("odin.review.diff").open((in_buffer[1] or pending[1]).file)
  elseif args.args == "pick" then
    walk.pick(pending, "Pending changes", walk.go_to)
  else
    walk.list()
    vim.cmd("botright copen")
  end
end

---@type string? The last undo, which can be undone.
local last_undo

local function undo(args)
  local file = args.args ~= "" and vim.fn.expand(args.args) or ""
  local argument = {}
  if args.bang then
    if not last_undo then
      return require("odin.words").say("no undo to redo")
    end
    argument.turnId = last_undo
  elseif vim.uv.fs_stat(file) then
    argument.uri = vim.uri_from_fname(vim.fn.fnamemodify(file, ":p"))
  elseif args.args ~= "" then
    argument.turnId = args.args
  end
  require("odin.client.request").execute(roots.of(0), "undoTurn", argument, function(result)
    last_undo = result.undoId
    local kept = vim.tbl_map(function(it)
      return ("%s stays: %s"):format(require("odin.client.files").shown(it.uri, vim.fn.getcwd()), it.reason)
    end, result.kept)
    local restored = require("odin.words").count(#result.restored, "file") .. " restored"
    require("odin.words").say_briefly({
      table.concat(vim.list_extend({ restored }, kept), "; "),
      ("%s, %d kept; the chat says why"):format(restored, #kept),
    })
  end)
end

---@type odin.Command[]
return {
  {
    name = "OdinReview",
    args = { "list", "pick", "diff", "edit", "next", "previous" },
    maps = { ["review-edit"] = "edit", next = "next", previous = "previous" },
    desc = "List all pending changes in the quickfix window. `pick` selects one to go to. `diff` shows a file and its "
      .. "proposed text in a tab. `edit` edits the change at the cursor before you accept it. `next` and `previous` go "
      .. "to the next or previous change, in all files.",
    run = open_review,
  },
  {
    name = "OdinAccept",
    args = { "rest" },
    bang = true,
    range = true,
    maps = { accept = "" },
    desc = "Accept the change at the cursor, or those in the range; with !, all of them. `rest` also accepts what the "
      .. "turn will still propose.",
    run = function(args)
      if args.args == "rest" then
        require("odin.review").accept_rest(roots.of(0))
      else
        require("odin.review").accept(chosen(args))
      end
    end,
  },
  {
    name = "OdinReject",
    args = { "{reason}" },
    bang = true,
    range = true,
    maps = { reject = "" },
    desc = "Reject the change at the cursor, or those in the range; with !, all of them. The model reads {reason}.",
    run = function(args)
      require("odin.review").reject(chosen(args), args.args)
    end,
  },
  {
    name = "OdinReopen",
    bang = true,
    range = true,
    maps = { reopen = "" },
    desc = "Undo your decision on the change at the cursor, or on those in the range; with !, on all of them. They are "
      .. "pending again, and the text is as before. Where nothing was decided, select a change.",
    run = reopen,
  },
  {
    name = "OdinUndo",
    args = { "{turn}", "{file}" },
    bang = true,
    desc = "Undo what the last turn changed in all files, or in one: `:OdinUndo %`. What you typed since stays. "
      .. "With !, redo what was undone last.",
    run = undo,
  },
}
