-- From hunk to hunk, across files: by keys, by the quickfix list, by a picker, and by deciding.

local diff = require("odin.review.diff")
local files = require("odin.client.files")
local hunks = require("odin.review.hunks")
local marks = require("odin.review.marks")
local preview = require("odin.review.preview")
local screen = require("odin.screen")
local words = require("odin.words")

local M = {}

local TITLE = "Odin review"
---@type table<string, string> By root: where the user is among the changes.
local places = {}

local function review()
  return require("odin.review")
end

---Move to the next pending hunk of the buffer, or of the next file.
---@param step 1|-1
function M.jump(step)
  local all = review().all()
  local here, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local path = M.path_here(all, here)
  local function is_ahead(it)
    if it.path ~= path then
      return path == nil or (it.path > path) == (step == 1)
    end
    local at = marks.row(here, it.hunk.id) or it.hunk.range.start.line
    return (step == 1 and at > row) or (step == -1 and at < row)
  end
  M.go_to_first(all, step, is_ahead, diff.shows())
end

---How to go on to the next pending hunk, once this one is decided: below it, then in the next files, then from the top.
---@param it odin.OpenHunk
---@param is_it? boolean It waits again: go to it.
---@return fun()
function M.from(it, is_it)
  local window, bufnr, id = vim.api.nvim_get_current_win(), vim.api.nvim_get_current_buf(), it.hunk.id
  local before, is_diff = review().all(), diff.shows()
  return function()
    review().redraw()
    local is_elsewhere = vim.api.nvim_get_current_win() ~= window
      or (vim.api.nvim_buf_is_valid(bufnr) and vim.api.nvim_get_current_buf() ~= bufnr)
    if vim.api.nvim_win_is_valid(window) and is_elsewhere then
      return -- the user has gone on by themselves
    end
    if vim.api.nvim_get_mode().mode ~= "n" or #review().pending() == 0 then
      return
    end
    local passed, ahead = false, {}
    for _, other in ipairs(before) do
      ahead[other.hunk.id] = passed or (is_it and other.hunk.id == id)
      passed = passed or other.hunk.id == id
    end
    M.go_to_first(review().all(), 1, function(other)
      return ahead[other.hunk.id]
    end, is_diff)
  end
end

---The first pending hunk that is ahead, or else the first of all.
---@private
---@param all odin.OpenHunk[]
---@param step 1|-1
---@param is_ahead fun(it: odin.OpenHunk): boolean
---@param is_diff boolean The user looks at a diff.
function M.go_to_first(all, step, is_ahead, is_diff)
  local first, target
  for index = step == 1 and 1 or #all, step == 1 and #all or 1, step do
    local it = all[index]
    if hunks.is_pending(it.hunk) then
      first = first or it
      target = target or (is_ahead(it) and it) or nil
    end
  end
  target = target or first
  if not target then
    words.say("nothing to review")
    return
  end
  M.go_to(target, is_diff)
  M.tell_place(all, target)
end

---Show a hunk in the current window.
---@param it odin.OpenHunk
---@param is_diff? boolean In a diff.
function M.go_to(it, is_diff)
  local bufnr = it.bufnr or M.buffer(it)
  require("odin.chat.window").enter_code()
  vim.cmd("normal! m'")
  if is_diff and it.file.operation == "edit" then
    diff.turn_to(it.file)
  elseif vim.api.nvim_get_current_buf() ~= bufnr then
    vim.api.nvim_win_set_buf(0, bufnr)
  end
  marks.go_to(it)
end

---@private
---@param it odin.OpenHunk
---@return integer
function M.buffer(it)
  local real = it.file.operation ~= "create" and files.load(it.file.uri)
  if real then
    return real
  end
  local made = preview.open(it)
  marks.draw(made, { it }, false)
  return made
end

---The reviewed file that a buffer shows.
---@private
---@param all odin.OpenHunk[]
---@param bufnr integer
---@return string? path
function M.path_here(all, bufnr)
  for _, it in ipairs(all) do
    if it.bufnr == bufnr then
      return it.path
    end
  end
end

---@private
---@param all odin.OpenHunk[]
---@param it odin.OpenHunk
function M.tell_place(all, it)
  local number, file, numbered = 0, 0, 0
  local count, paths = 0, {}
  for _, other in ipairs(all) do
    if other.review.root == it.review.root then
      count = count + 1
      if not paths[other.path] then
        paths[other.path], numbered = true, numbered + 1
      end
      if other.hunk.id == it.hunk.id then
        number, file = count, numbered
      end
    end
  end
  local place = ("%d of %d"):format(number, count)
  places[it.review.root] = place
  local parts = { place, ("%d of %s"):format(file, words.count(numbered, "file")), require("odin.keys").hint() }
  screen.echo(table.concat(words.said(parts), " · "))
end

---Which change the user went to last, as `1 of 3`, while there are any.
---@param root string
---@return string?
function M.place(root)
  return places[root]
end

---Put all pending hunks into the quickfix list.
function M.list()
  local texts = {}
  local items = vim.tbl_map(function(it)
    texts[it.path] = texts[it.path] or hunks.text(it)
    return {
      bufnr = it.file.operation == "create" and M.buffer(it) or nil,
      filename = it.file.operation ~= "create" and it.path or nil,
      module = files.shown(it.file.uri, it.review.root),
      lnum = M.line(it, texts[it.path]),
      text = hunks.label(it, texts[it.path]),
    }
  end, review().pending())
  screen.list(TITLE, items, M.is_listed() and "r" or " ")
end

---The line to go to, counted from 1.
---@private
---@param it odin.OpenHunk
---@param text odin.Text
---@return integer
function M.line(it, text)
  local drawn = it.bufnr and marks.row(it.bufnr, it.hunk.id)
  return 1 + (drawn or it.file.operation == "edit" and hunks.span(it, text).first or 0)
end

---Choose a hunk.
---@param among odin.OpenHunk[]
---@param prompt string
---@param use fun(it: odin.OpenHunk)
function M.pick(among, prompt, use)
  local texts = {}
  require("odin.pick").from(among, {
    prompt = prompt,
    kind = "change",
    line = function(it)
      texts[it.path] = texts[it.path] or hunks.text(it)
      local path, label = files.shown(it.file.uri, it.review.root), hunks.label(it, texts[it.path])
      return it.file.operation == "edit" and ("%s:%d  %s"):format(path, M.line(it, texts[it.path]), label)
        or ("%s  %s"):format(path, label)
    end,
    preview = function(it)
      local span = hunks.span(it)
      local lines = { ("%s: %s"):format(files.shown(it.file.uri, it.review.root), it.hunk.reason) }
      for _, side in ipairs({ { "-", span.old }, { "+", span.new } }) do
        for _, line in ipairs(side[2]) do
          table.insert(lines, side[1] .. line)
        end
      end
      return table.concat(lines, "\n"), "diff"
    end,
  }, use)
end

---Bring up to date what tells of the changes: the quickfix list, if it is ours, and the place of the user.
function M.refresh()
  for root in pairs(places) do
    places[root] = review().count(root) > 0 and places[root] or nil
  end
  if M.is_listed() then
    M.list()
  end
end

---@private
---@return boolean
function M.is_listed()
  return vim.fn.getqflist({ title = 1 }).title == TITLE
end

return M
