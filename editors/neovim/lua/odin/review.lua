-- What Odin proposes and the user decides: pending hunks by file, shown over the real buffers.

local files = require("odin.files")
local marks = require("odin.marks")
local server = require("odin.server")

local M = {}

---@class odin.OpenReview
---@field proposal odin.Proposal
---@field client_id integer
---@field root string
---@field encoding string
---@field waiting? thread Answers `odin/review`.
---@field accepts_rest? boolean The user has said so before the request came.

---@type table<string, odin.OpenReview> By proposal.
local reviews = {}
local is_redrawing = false

---A proposal to decide on. Its files are loaded, so that hunks move along with what the user types.
---@param proposal odin.Proposal
---@param client vim.lsp.Client
function M.open(proposal, client)
  local root = server.root_in(client.config)
  reviews[proposal.proposalId] =
    { proposal = proposal, client_id = client.id, root = root, encoding = client.offset_encoding or "utf-16" }
  for _, file in ipairs(proposal.files) do
    if file.operation ~= "create" and vim.fn.filereadable(vim.uri_to_fname(file.uri)) == 1 then
      local ok, err = pcall(vim.fn.bufload, vim.fn.bufadd(vim.uri_to_fname(file.uri)))
      if not ok then
        server.say(("%s cannot be shown: %s"):format(file.uri, err), vim.log.levels.WARN)
      end
    end
  end
  M.redraw()
  local pending = M.pending(root)
  if #pending > 0 then
    server.say(("%d changes to review: :OdinReview lists them"):format(#pending))
  end
end

---Answer `odin/review` when the user accepts the rest of the turn; all else is decided by commands.
---@param proposal odin.Proposal
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
---@param hunks odin.Hunk[]
function M.change(id, hunks)
  local by_id = {}
  for _, hunk in ipairs(hunks) do
    by_id[hunk.id] = hunk
  end
  for _, file in ipairs(reviews[id] and reviews[id].proposal.files or {}) do
    file.hunks = vim.tbl_map(function(hunk)
      return by_id[hunk.id] or hunk
    end, file.hunks)
  end
  M.redraw_soon()
end

---@param id string
function M.close(id)
  local review = reviews[id]
  reviews[id] = nil
  if review and review.waiting then
    coroutine.resume(review.waiting, nil)
  end
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

---@class odin.PendingHunk
---@field hunk odin.Hunk
---@field file odin.ProposedFile
---@field review odin.OpenReview
---@field bufnr? integer Where it is shown.

---What is not decided yet, in the order of files and lines.
---@param root? string
---@return odin.PendingHunk[]
function M.pending(root)
  local found = {}
  for _, review in pairs(reviews) do
    for _, file in ipairs((root == nil or review.root == root) and review.proposal.files or {}) do
      for _, hunk in ipairs(file.hunks) do
        if (hunk.state or "pending") == "pending" then
          table.insert(found, { hunk = hunk, file = file, review = review, bufnr = files.buffer(file.uri) })
        end
      end
    end
  end
  table.sort(found, function(a, b)
    if a.file.uri ~= b.file.uri then
      return a.file.uri < b.file.uri
    end
    return a.hunk.range.start.line < b.hunk.range.start.line
  end)
  return found
end

---Hunks that are shown in these lines of a buffer.
---@param bufnr integer
---@param first integer
---@param last integer
---@return odin.PendingHunk[]
function M.within(bufnr, first, last)
  return vim.tbl_filter(function(it)
    return it.bufnr == bufnr and marks.touches(bufnr, it.hunk.id, first - 1, last - 1)
  end, M.pending())
end

---@param chosen odin.PendingHunk[]
---@param texts? table<string, string> What takes the place of the proposed text, by hunk.
function M.accept(chosen, texts)
  M.decide("review.accept", chosen, { texts = texts })
end

---@param chosen odin.PendingHunk[]
---@param reason? string For the model.
function M.reject(chosen, reason)
  M.decide("review.reject", chosen, { reason = reason ~= "" and reason or nil })
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
        coroutine.resume(routine, M.rest_accepted(review))
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

---@private
---@param command string
---@param chosen odin.PendingHunk[]
---@param argument table
function M.decide(command, chosen, argument)
  if #chosen == 0 then
    server.say("no pending change here", vim.log.levels.WARN)
    return
  end
  local by_root = vim.defaulttable()
  for _, it in ipairs(chosen) do
    table.insert(by_root[it.review.root], it.hunk.id)
  end
  for root, ids in pairs(by_root) do
    server.execute(root, command, vim.tbl_extend("error", argument, { hunkIds = ids }))
  end
end

---Draw them when the events that wait already have been heard: a fast typist has one for every key.
---@private
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

---Draw all pending hunks anew, and bring up to date what else shows them.
function M.redraw()
  local pending = M.pending()
  marks.draw(pending)
  require("odin.diff").refresh()
  if vim.fn.getqflist({ title = 1 }).title == M.TITLE then
    M.list()
  end
end

M.TITLE = "Odin review"

---Put all pending hunks into the quickfix list.
function M.list()
  local items = vim.tbl_map(function(it)
    local row = it.bufnr and marks.row(it.bufnr, it.hunk.id) or it.hunk.range.start.line
    local what = it.file.operation == "edit" and "" or it.file.operation .. ": "
    return {
      filename = vim.uri_to_fname(it.file.uri),
      lnum = row + 1,
      text = what .. (it.hunk.reason:gsub("\n", " ")),
    }
  end, M.pending())
  local is_ours = vim.fn.getqflist({ title = 1 }).title == M.TITLE
  vim.fn.setqflist({}, is_ours and "r" or " ", { title = M.TITLE, items = items })
end

---Move to the next hunk of the buffer, or of the next file.
---@param step 1|-1
function M.jump(step)
  local pending = vim.tbl_filter(function(it)
    return it.bufnr ~= nil
  end, M.pending())
  if #pending == 0 then
    server.say("nothing to review")
    return
  end
  local here, row = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  local target
  for index, it in ipairs(pending) do
    local at = marks.row(it.bufnr, it.hunk.id) or 0
    if it.bufnr == here and ((step == 1 and at > row) or (step == -1 and at < row)) then
      target = index
      if step == 1 then
        break
      end
    end
  end
  target = target or M.in_next_file(pending, here, step)
  local found = pending[target]
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_buf(0, found.bufnr)
  vim.api.nvim_win_set_cursor(0, { (marks.row(found.bufnr, found.hunk.id) or 0) + 1, 0 })
end

---@private
function M.in_next_file(pending, here, step)
  local first, last
  for index, it in ipairs(pending) do
    if it.bufnr == here then
      first, last = first or index, index
    end
  end
  if step == 1 then
    return last and last < #pending and last + 1 or 1
  end
  return first and first > 1 and first - 1 or #pending
end

---Let the user write what takes the place of a hunk; writing the buffer accepts it so.
---@param it odin.PendingHunk
function M.edit(it)
  local bufnr = vim.api.nvim_create_buf(false, true)
  local ends = it.hunk.newText:sub(-1) == "\n"
  local text = ends and it.hunk.newText:sub(1, -2) or it.hunk.newText
  vim.api.nvim_buf_set_name(bufnr, "odin://hunk/" .. it.hunk.id)
  vim.bo[bufnr].buftype = "acwrite"
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].filetype = it.bufnr and vim.bo[it.bufnr].filetype or ""
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, vim.split(text, "\n", { plain = true }))
  vim.bo[bufnr].modified = false
  local window = vim.api.nvim_open_win(bufnr, true, {
    relative = "cursor",
    row = 1,
    col = 0,
    width = math.max(40, math.min(100, vim.o.columns - 8)),
    height = math.max(3, math.min(vim.api.nvim_buf_line_count(bufnr) + 1, vim.o.lines - 6)),
    border = "rounded",
    title = " :w accepts it as it stands here, :q! leaves it pending ",
  })
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = bufnr,
    callback = function()
      local lines = table.concat(vim.api.nvim_buf_get_lines(bufnr, 0, -1, false), "\n")
      vim.bo[bufnr].modified = false
      M.accept({ it }, { [it.hunk.id] = ends and lines .. "\n" or lines })
      vim.schedule(function()
        if vim.api.nvim_win_is_valid(window) then
          vim.api.nvim_win_close(window, true)
        end
      end)
    end,
  })
end

return M
