-- Approvals and questions: the full text in a float, the answer by `vim.ui.select` and `vim.ui.input`.

local server = require("odin.server")

local M = {}

local READ_ALL = { id = "", label = "Read all of it first" }
local WRITE = { id = "", label = "Something else…" }
local DONE = { id = "", label = "Done" }
---@type table<integer, fun()> How to give up what is asked right now, by client.
local asked = {}

---Ask the user, in a coroutine; nil is no answer.
---@param question odin.Question
---@param client vim.lsp.Client
---@return { optionIds: string[], text?: string }?
function M.ask(question, client)
  local routine = coroutine.running()
  local window, is_long = M.show(question)
  local answered = false
  local function answer(value)
    if not answered then
      answered = true
      asked[client.id] = nil
      if vim.api.nvim_win_is_valid(window) then
        vim.api.nvim_win_close(window, true)
      end
      coroutine.resume(routine, value)
    end
  end
  asked[client.id] = function()
    answer(nil)
  end
  M.when_idle(function()
    if not answered then
      M.choose(question, is_long and window or nil, answer)
    end
  end)
  require("odin.events").announce("question", question)
  return coroutine.yield()
end

---The turn has ended, or the server: nobody waits for an answer any more.
---@param client_id integer
function M.forget(client_id)
  if asked[client_id] then
    asked[client_id]()
  end
end

---Run it when the user is not typing: no key meant for a text may answer a question.
---@param run fun()
function M.when_idle(run)
  if vim.api.nvim_get_mode().mode == "n" then
    vim.schedule(run)
    return
  end
  server.say("there is a question for you; it is asked when you leave this mode")
  vim.api.nvim_create_autocmd("ModeChanged", {
    callback = function()
      if vim.v.event.new_mode == "n" then
        vim.schedule(run)
        return true
      end
    end,
  })
end

---@param question odin.Question
---@return integer window
---@return boolean is_long More than the float can show.
function M.show(question)
  local lines = { question.title }
  local detail = question.detail or ""
  local function add(text)
    if text and text ~= "" then
      vim.list_extend(lines, { "" })
      vim.list_extend(lines, vim.split(text, "\n", { plain = true }))
    end
  end
  for _, text in ipairs({ question.command or "", question.cwd or "", unpack(question.paths or {}) }) do
    add(not detail:find(text, 1, true) and text)
  end
  add(detail)
  for _, option in ipairs(question.options or {}) do
    add(option.description and ("%s: %s"):format(option.label, option.description))
  end
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  local width = math.max(20, math.min(vim.o.columns - 4, 100))
  local height = 0
  for _, line in ipairs(lines) do
    height = height + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  local room = math.max(3, vim.o.lines - 10)
  local window = vim.api.nvim_open_win(bufnr, false, {
    relative = "editor",
    row = 1,
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = math.min(height, room),
    border = "rounded",
    title = " Odin ",
    style = "minimal",
  })
  vim.wo[window].wrap = true
  vim.cmd.redraw()
  return window, height > room
end

---@param question odin.Question
---@param window? integer The float, if it cannot show everything at once.
---@param answer fun(value?: { optionIds: string[], text?: string })
function M.choose(question, window, answer)
  local options = vim.list_slice(question.options or {})
  if #options == 0 then
    M.write(question, answer)
    return
  end
  if question.multiple then
    M.choose_several(question, {}, answer)
    return
  end
  if question.allowText then
    table.insert(options, WRITE)
  end
  if window then
    table.insert(options, 1, READ_ALL)
  end
  vim.ui.select(options, {
    prompt = question.title,
    kind = "odin",
    format_item = function(option)
      return option.label
    end,
  }, function(option)
    if option == READ_ALL then
      M.read(window, function()
        M.choose(question, nil, answer)
      end)
    elseif option == WRITE then
      M.write(question, answer)
    else
      answer(option and { optionIds = { option.id } })
    end
  end)
end

---One after the other, until the user is done.
---@private
---@param question odin.Question
---@param ids string[]
---@param answer fun(value?: { optionIds: string[], text?: string })
function M.choose_several(question, ids, answer)
  local options = vim.list_extend({ DONE }, question.options)
  vim.ui.select(options, {
    prompt = question.title,
    kind = "odin",
    format_item = function(option)
      return (vim.tbl_contains(ids, option.id) and "[x] " or "") .. option.label
    end,
  }, function(option)
    if option == DONE then
      answer({ optionIds = ids })
    elseif option then
      local others = vim.tbl_filter(function(id)
        return id ~= option.id
      end, ids)
      M.choose_several(question, #others < #ids and others or vim.list_extend(others, { option.id }), answer)
    else
      answer(nil)
    end
  end)
end

---@private
function M.write(question, answer)
  vim.ui.input({ prompt = question.title .. " " }, function(text)
    answer(text and text ~= "" and { optionIds = {}, text = text } or nil)
  end)
end

---Let the user move about in the float, and go on when it is left.
---@private
function M.read(window, go_on)
  vim.api.nvim_set_current_win(window)
  vim.keymap.set("n", "q", "<C-w>p", { buffer = true })
  vim.api.nvim_create_autocmd("WinLeave", {
    buffer = vim.api.nvim_win_get_buf(window),
    once = true,
    callback = vim.schedule_wrap(go_on),
  })
end

return M
