-- Approvals and questions: the full text in a float, the answer by `vim.ui.select` and `vim.ui.input`.

local display = require("odin.display")
local screen = require("odin.screen")
local words = require("odin.words")

local M = {}

local READ_ALL = { id = "", label = "Read all of it first" }
local EDIT = { id = "", label = "Edit the command…" }
local WRITE = { id = "", label = "Something else…" }
---Modes in which nobody types a text: normal mode, in a terminal, too.
local IDLE = { n = true, nt = true }
local DONE = { id = "", label = "Done" }

---What is asked right now.
---@class odin.Asking
---@field question odin.Question
---@field window integer The float with its text.
---@field is_long boolean More than the float can show, and nobody has read it.
---@field is_open boolean Somebody waits for the answer.
---@field editing? integer The float in which its command is edited.
---@field answer fun(value?: odin.Answer)

---@type table<integer, odin.Asking> By client.
local asked = {}

---Ask the user, in a coroutine; nil is no answer.
---@param question odin.Question
---@param client vim.lsp.Client
---@return odin.Answer?
function M.ask(question, client)
  local routine = coroutine.running()
  local forget_keys
  local window, is_long = M.show(question)
  local asking = { question = question, window = window, is_long = is_long, is_open = true }
  function asking.answer(value)
    if not asking.is_open then
      return
    end
    asking.is_open, asked[client.id] = false, nil
    forget_keys()
    for _, it in ipairs({ asking.window, asking.editing }) do
      if vim.api.nvim_win_is_valid(it) then
        vim.api.nvim_win_close(it, true)
      end
    end
    require("odin.client.routines").resume(routine, value)
  end
  asked[client.id] = asking
  local options = question.options or {}
  forget_keys = question.multiple and function() end
    or require("odin.keys").question(#options, function(number)
      vim.schedule(function()
        asking.answer({ optionIds = { options[number].id } })
      end)
    end)
  M.when_idle(function()
    M.choose(asking)
  end)
  require("odin.client.events").announce("question", question)
  return coroutine.yield()
end

---Nobody waits for an answer any more: the turn has ended, or the server, or the question is answered.
---@param client_id integer
---@param question_id? string Only this one.
function M.forget(client_id, question_id)
  local asking = asked[client_id]
  if asking and (not question_id or asking.question.questionId == question_id) then
    asking.answer(nil)
  end
end

---Run it when the user is not typing: no key meant for a text may answer a question.
---@param run fun()
function M.when_idle(run)
  if IDLE[vim.api.nvim_get_mode().mode] then
    vim.schedule(run)
    return
  end
  local key = require("odin.keys").answer(1)
  local plain = "Odin has a question; leave this mode to see it"
  words.say_briefly({ key and ("%s, or press %s …"):format(plain, key) or plain, plain })
  local waiting
  waiting = vim.api.nvim_create_autocmd("ModeChanged", {
    callback = vim.schedule_wrap(function() -- `:normal` changes the mode and changes it back
      if waiting and IDLE[vim.api.nvim_get_mode().mode] then
        vim.api.nvim_del_autocmd(waiting)
        waiting = nil
        run()
      end
    end),
  })
end

---@param question odin.Question
---@return integer window
---@return boolean is_long More than the float can show.
function M.show(question)
  local lines = words.lines(question.title)
  local detail = question.detail or ""
  local function add(text)
    if text and text ~= "" then
      vim.list_extend(lines, { "" })
      vim.list_extend(lines, words.lines(text))
    end
  end
  local command = question.command or ""
  local has_command = ("\n%s\n"):format(detail):find(("\n%s\n"):format(command), 1, true)
  add(not has_command and command)
  -- What a folder brings is listed with its files: what runs is not to be pushed off the screen by their names.
  local paths = #(question.items or {}) == 0 and question.paths or {}
  for _, path in ipairs({ question.cwd or "", unpack(paths) }) do
    add(not detail:find(path, 1, true) and display.line(path))
  end
  add(detail)
  add(M.keys_of(question))
  add(M.without_answer(question))
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  screen.put(bufnr, 0, -1, lines)
  vim.bo[bufnr].modifiable = false
  local width = math.max(20, math.min(vim.o.columns - 4, 100))
  local room = math.max(3, vim.o.lines - 10)
  local window = screen.float(bufnr, false, {
    relative = "editor",
    row = 1,
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = room,
    border = "rounded",
    title = question.header and "Odin · " .. question.header or "Odin",
    style = "minimal",
  })
  for name, value in pairs({ wrap = true, linebreak = true, breakindent = true, breakindentopt = "list:-1" }) do
    vim.wo[window][name] = value
  end
  local height = vim.api.nvim_win_text_height(window, {}).all
  vim.api.nvim_win_set_height(window, math.min(height, room))
  vim.cmd.redraw()
  return window, height > room
end

---The answers that there are, with the keys that give them.
---@private
---@param question odin.Question
---@return string
function M.keys_of(question)
  local lines = {}
  for number, option in ipairs(question.options or {}) do
    local key = not question.multiple and require("odin.keys").answer(number)
    local about = option.description and (": %s"):format(option.description) or ""
    table.insert(lines, (key and key .. "  " or "- ") .. display.flat(option.label .. about))
  end
  return table.concat(lines, "\n")
end

---Whether somebody waits for an answer.
---@return boolean
function M.waits()
  return next(asked) ~= nil
end

---What happens if nobody answers, and when.
---@private
---@param question odin.Question
---@return string?
function M.without_answer(question)
  if not question.timeoutMs then
    return nil
  end
  local what = "Odin continues without an answer"
  for _, option in ipairs(question.options or {}) do
    what = option.id == question.default and ("“%s” applies"):format(display.line(option.label)) or what
  end
  return ("%s at %s."):format(what, os.date("%H:%M:%S", os.time() + math.ceil(question.timeoutMs / 1000)))
end

---@param asking odin.Asking
---@param chosen? string[] Of several that may be chosen: the ids of those that are.
function M.choose(asking, chosen)
  if not asking.is_open then
    return
  end
  local question, ids = asking.question, chosen or {}
  local options = vim.list_slice(question.options or {})
  if #options == 0 then
    M.write(asking, ids)
    return
  end
  vim.list_extend(options, question.editable and { EDIT } or {})
  vim.list_extend(options, question.allowText and { WRITE } or {})
  if question.multiple then
    table.insert(options, 1, DONE)
  end
  if asking.is_long then
    table.insert(options, 1, READ_ALL)
  end
  require("odin.pick").from(options, {
    prompt = question.title,
    kind = "answer",
    line = function(option)
      local is_default = option.id == question.default and option.id ~= ""
      return (vim.tbl_contains(ids, option.id) and "[x] " or "") .. option.label .. (is_default and " (default)" or "")
    end,
    preview = function(option)
      return table.concat(words.said({ option.description or "", question.command or question.detail or "" }), "\n\n")
    end,
  }, function(option)
    if option == READ_ALL then
      M.read(asking, ids)
    elseif option == EDIT then
      M.edit(asking)
    elseif option == WRITE then
      M.write(asking, ids)
    elseif option == DONE then
      asking.answer({ optionIds = ids })
    elseif question.multiple then
      M.choose(asking, M.toggled(ids, option.id))
    else
      asking.answer({ optionIds = { option.id } })
    end
  end, function()
    asking.answer(nil)
  end)
end

---@private
---@param ids string[]
---@param id string
---@return string[]
function M.toggled(ids, id)
  local others = vim.tbl_filter(function(it)
    return it ~= id
  end, ids)
  return #others < #ids and others or vim.list_extend(others, { id })
end

---@private
---@param asking odin.Asking
---@param ids string[]
function M.write(asking, ids)
  screen.ask(asking.question.title, function(text)
    local is_said = text and text ~= ""
    asking.answer(is_said and { optionIds = asking.question.multiple and ids or {}, text = text } or nil)
  end)
end

---Have the command changed before it is allowed, this once: what the other options allow is the command as it was.
---@private
---@param asking odin.Asking
function M.edit(asking)
  asking.editing = require("odin.float").write(
    {
      name = "odin://command/" .. asking.question.questionId,
      lines = require("odin.words").lines(asking.question.command),
      title = ":w allows this command once, :q! goes back to the question",
      filetype = "sh",
    },
    { relative = "editor", anchor = "SW", row = vim.o.lines - 2, col = 2 },
    function(lines)
      local command = vim.trim(table.concat(lines, "\n"))
      asking.answer(command ~= "" and { optionIds = { "allow_once" }, command = command } or nil)
    end,
    function()
      M.choose(asking)
    end
  )
end

---Let the user move about in the float, and go on when it is left.
---@private
---@param asking odin.Asking
---@param ids string[]
function M.read(asking, ids)
  vim.api.nvim_set_current_win(asking.window)
  vim.keymap.set("n", "q", "<C-w>p", { buffer = true })
  vim.api.nvim_create_autocmd("WinLeave", {
    buffer = vim.api.nvim_win_get_buf(asking.window),
    once = true,
    callback = vim.schedule_wrap(function()
      asking.is_long = false
      M.choose(asking, ids)
    end),
  })
end

return M
