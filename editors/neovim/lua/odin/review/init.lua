-- What Odin proposes and the user decides: hunks by file, shown over the real buffers.

local files = require("odin.client.files")
local hunks = require("odin.review.hunks")
local marks = require("odin.review.marks")
local preview = require("odin.review.preview")
local request = require("odin.client.request")
local roots = require("odin.client.roots")
local words = require("odin.words")

local M = {}

local LATER_MS = 200

---@class odin.OpenReview
---@field proposal odin.Review
---@field client_id integer
---@field root string
---@field encoding string
---@field waiting? thread Answers `odin/review`.
---@field accepts_rest? boolean The user has said so before the request came.

---@type table<string, odin.OpenReview> By proposal.
local reviews = {}
---@type table<string, integer> By root: how many hunks wait, if that was counted since they changed.
local counts = {}
local is_redrawing = false
---@type table<string, boolean> Roots of which the user is about to be told that something waits.
local telling = {}

---A proposal to decide on.
---@param proposal odin.Review
---@param client vim.lsp.Client
---@param is_earlier? boolean It has waited since an earlier turn: there may be others.
function M.open(proposal, client, is_earlier)
  local root = roots.of_client(client.config)
  local known = reviews[proposal.proposalId] or {}
  known.proposal, known.client_id, known.root = proposal, client.id, root
  known.encoding = client.offset_encoding or "utf-16"
  counts = {}
  reviews[proposal.proposalId] = known
  for _, file in ipairs(proposal.files) do
    if file.operation ~= "create" and vim.fn.filereadable(vim.uri_to_fname(file.uri)) == 1 then
      vim.fn.bufadd(vim.uri_to_fname(file.uri))
    end
  end
  M.follow()
  M.redraw()
  if is_earlier then
    M.tell_later(root)
  else
    M.tell_of_new(root)
  end
end

---@private
---@param root string
function M.tell_of_new(root)
  local count = M.count(root)
  if count == 0 then
    return
  end
  local head = words.count(count, "change") .. " to review: "
  local keys, lists = require("odin.keys").hint(), ":OdinReview lists " .. (count == 1 and "it" or "them")
  local all = table.concat(words.said({ keys, lists }), " · ")
  words.say_briefly({ head .. all, head .. (keys ~= "" and keys or lists), head .. ":OdinReview" })
end

---@private
---@param root string
function M.tell_later(root)
  if not telling[root] then
    telling[root] = true
    vim.defer_fn(function()
      telling[root] = nil
      M.tell_of_waiting(root, "wait")
    end, LATER_MS)
  end
end

---Say how much waits for the user.
---@param root string
---@param wait "wait"|"still wait"
---@return boolean waits
function M.tell_of_waiting(root, wait)
  return M.tell(root, ("%%s %s%s for you: :OdinReview"):format(wait, M.count(root) == 1 and "s" or ""))
end

---@private
---@param root string
---@param message string
---@return boolean told
function M.tell(root, message)
  local count = M.count(root)
  if count > 0 then
    words.say(message:format(words.count(count, "change")))
  end
  return count > 0
end

---Answer `odin/review` when the user accepts the rest of the turn; all else is decided by commands.
---@param proposal odin.Review
---@param client vim.lsp.Client
function M.wait(proposal, client)
  if not reviews[proposal.proposalId] then
    M.open(proposal, client)
  end
  local review = reviews[proposal.proposalId]
  if review.accepts_rest then
    return M.rest_accepted(review)
  end
  review.waiting = coroutine.running()
  return coroutine.yield()
end

---Hunks have moved or were decided.
---@param id string
---@param changed odin.ReviewHunk[]
function M.change(id, changed)
  local by_id = {}
  for _, hunk in ipairs(changed) do
    by_id[hunk.id] = hunk
  end
  for _, file in ipairs(reviews[id] and reviews[id].proposal.files or {}) do
    file.hunks = vim.tbl_map(function(hunk)
      return by_id[hunk.id] or hunk
    end, file.hunks)
  end
  counts = {}
  M.redraw_soon()
end

---@param id string
function M.close(id)
  local review = reviews[id]
  reviews[id], counts = nil, {}
  if review and review.waiting then
    require("odin.client.routines").resume(review.waiting, nil)
  end
  M.follow()
  M.redraw()
end

---The server has ended, and with it what it proposed.
---@param client_id integer
function M.forget(client_id)
  for id, review in pairs(reviews) do
    if review.client_id == client_id then
      review.waiting = nil
      M.close(id)
    end
  end
end

---@class odin.OpenHunk
---@field hunk odin.ReviewHunk
---@field file odin.ReviewFile
---@field review odin.OpenReview
---@field path string
---@field bufnr? integer Where it is shown.

---All hunks of open reviews, decided or not, in the order of files and lines.
---@param root? string
---@return odin.OpenHunk[]
function M.all(root)
  local found = {}
  for _, review in pairs(reviews) do
    for _, file in ipairs((root == nil or review.root == root) and review.proposal.files or {}) do
      local path, bufnr = vim.uri_to_fname(file.uri), M.buffer(file)
      for _, hunk in ipairs(file.hunks) do
        local at = bufnr or preview.buffer(hunk.id)
        table.insert(found, { hunk = hunk, file = file, review = review, path = path, bufnr = at })
      end
    end
  end
  table.sort(found, function(a, b)
    local one, two = a.hunk.range.start, b.hunk.range.start
    if a.path ~= b.path then
      return a.path < b.path
    elseif one.line ~= two.line then
      return one.line < two.line
    end
    return one.character < two.character
  end)
  return found
end

---@private
---@param file odin.ReviewFile
---@return integer?
function M.buffer(file)
  local is_in = #file.hunks > 0 and hunks.is_in(file.hunks[1])
  if file.operation == "create" and not is_in then
    return nil
  end
  return files.buffer(file.operation == "rename" and is_in and file.newUri or file.uri)
end

---What is not decided yet.
---@param root? string
---@return odin.OpenHunk[]
function M.pending(root)
  return vim.tbl_filter(function(it)
    return hunks.is_pending(it.hunk)
  end, M.all(root))
end

---How many are not decided yet: statuslines ask for it at every redraw.
---@param root string
---@return integer
function M.count(root)
  counts[root] = counts[root] or #M.pending(root)
  return counts[root]
end

---What can be taken back.
---@param root? string
---@return odin.OpenHunk[]
function M.decided(root)
  return vim.tbl_filter(function(it)
    return hunks.is_in(it.hunk) or it.hunk.state == "rejected"
  end, M.all(root))
end

---Those of them that are shown in these lines of a buffer; if there is none, those that are beside them.
---@param among odin.OpenHunk[]
---@param bufnr integer
---@param first integer
---@param last integer
---@return odin.OpenHunk[]
function M.within(among, bufnr, first, last)
  local found = { ["in"] = {}, beside = {} }
  for _, it in ipairs(among) do
    local how = it.bufnr == bufnr and marks.touches(bufnr, it.hunk.id, first - 1, last - 1)
    if how then
      table.insert(found[how], it)
    end
  end
  return #found["in"] > 0 and found["in"] or found.beside
end

---@param chosen odin.OpenHunk[]
---@param texts? table<string, string> What takes the place of the proposed text, by hunk.
---@param done? fun()
function M.accept(chosen, texts, done)
  M.decide("review.accept", chosen, { texts = texts }, done)
end

---@param chosen odin.OpenHunk[]
---@param reason? string For the model.
function M.reject(chosen, reason)
  M.decide("review.reject", chosen, { reason = reason ~= "" and reason or nil })
end

---Have decided ones wait again, with their text as before.
---@param chosen odin.OpenHunk[]
function M.reopen(chosen)
  M.decide("review.reopen", chosen, {})
end

---Accept what is pending, and all that the turn still proposes.
---@param root string
function M.accept_rest(root)
  for _, review in pairs(reviews) do
    if review.root == root then
      review.accepts_rest = true
      local routine = review.waiting
      review.waiting = nil
      if routine then
        require("odin.client.routines").resume(routine, M.rest_accepted(review))
      end
    end
  end
end

---@private
---@param review odin.OpenReview
function M.rest_accepted(review)
  local decisions = {}
  for _, it in ipairs(M.pending(review.root)) do
    if it.review == review then
      table.insert(decisions, { hunkId = it.hunk.id, decision = "accept" })
    end
  end
  return { decisions = decisions, restOfTurn = "accept" }
end

---Have the server decide, and go on to what is next; to what waits again.
---@private
---@param command "review.accept"|"review.reject"|"review.reopen"
---@param chosen odin.OpenHunk[]
---@param argument table
---@param done? fun()
function M.decide(command, chosen, argument, done)
  local is_reopening = command == "review.reopen"
  if #chosen == 0 then
    words.say(is_reopening and "no decision here" or "no pending change here", vim.log.levels.WARN)
    return
  end
  local last = chosen[is_reopening and 1 or #chosen]
  local go_on = require("odin.review.walk").from(last, is_reopening)
  local by_root = vim.defaulttable()
  for _, it in ipairs(chosen) do
    table.insert(by_root[it.review.root], it.hunk.id)
  end
  for root, ids in pairs(by_root) do
    request.execute(root, command, vim.tbl_extend("error", argument, { hunkIds = ids }), function(result)
      M.tell_problems(result.receipts, root)
      if done then
        done()
      end
      go_on()
    end)
  end
end

---What could not be done as it was meant.
---@private
---@param receipts odin.Receipt[]
---@param root string
function M.tell_problems(receipts, root)
  for _, it in ipairs(receipts) do
    if it.reason and it.state ~= "rejected" then
      words.say(("%s: %s"):format(files.shown(it.uri, root), it.reason), vim.log.levels.WARN)
    end
  end
end

---Draw them when the events that wait already have been heard: a fast typist has one for every key.
function M.redraw_soon()
  if is_redrawing then
    return
  end
  is_redrawing = true
  vim.schedule(function()
    is_redrawing = false
    M.redraw()
  end)
end

---Draw all hunks anew, and bring up to date what else shows them.
function M.redraw()
  local needed = {}
  for _, it in ipairs(M.draw()) do
    needed[it.hunk.id] = not hunks.is_in(it.hunk)
  end
  preview.refresh(needed)
  require("odin.review.diff").refresh()
  require("odin.review.walk").refresh()
end

---@private
---@return odin.OpenHunk[] all
function M.draw()
  local by_buffer, all = {}, M.all()
  for _, bufnr in ipairs(marks.buffers()) do
    by_buffer[bufnr] = {}
  end
  for _, it in ipairs(all) do
    if it.bufnr then
      by_buffer[it.bufnr] = by_buffer[it.bufnr] or {}
      table.insert(by_buffer[it.bufnr], it)
    end
  end
  marks.define_highlights()
  for bufnr, shown in pairs(by_buffer) do
    require("odin.keys").review(bufnr, vim.iter(shown):any(function(it)
      return hunks.is_pending(it.hunk)
    end))
    marks.draw(bufnr, shown, require("odin.review.diff").shows(bufnr))
  end
  return all
end

---Draw hunks over buffers that are loaded later, and where no diff shows them any more, as long as there are any.
---@private
function M.follow()
  local group = vim.api.nvim_create_augroup("odin.review", {})
  if next(reviews) then
    local function draw(event)
      if event.event == "BufReadPost" then
        marks.forget(event.buf)
      end
      M.draw()
    end
    vim.api.nvim_create_autocmd({ "BufReadPost", "TabEnter" }, { group = group, callback = draw })
  end
end

return M
