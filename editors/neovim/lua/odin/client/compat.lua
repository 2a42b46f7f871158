-- What Neovim 0.10 does otherwise than newer ones.

local M = {}

M.IS_NEW = vim.fn.has("nvim-0.11") == 1

---@param client vim.lsp.Client
---@param method string
---@param params table
---@param handler fun(err?: lsp.ResponseError, result: any)
---@return boolean sent
function M.request(client, method, params, handler)
  local sent
  if M.IS_NEW then
    sent = client:request(method, params, handler)
  else
    sent = client.request(method, params, handler) -- 0.10 has functions where newer ones have methods
  end
  return sent
end

---@param client vim.lsp.Client
---@param method string
---@param params table
function M.notify(client, method, params)
  if M.IS_NEW then
    client:notify(method, params)
  else
    client.notify(method, params)
  end
end

---Start a client that has no buffer yet.
---@param settings table
---@return integer? id
function M.start(settings)
  if M.IS_NEW then
    return vim.lsp.start(settings, { attach = false })
  end
  return vim.lsp.start_client(settings)
end

---Show what servers offer above the lines of a buffer, and keep it up to date. Before 0.12 nobody else does.
---@param bufnr integer
function M.show_lenses(bufnr)
  if vim.lsp.codelens.enable then
    vim.lsp.codelens.enable(true, { bufnr = bufnr })
    return
  end
  local is_due = false
  local function refresh()
    is_due = false
    if vim.api.nvim_buf_is_loaded(bufnr) then
      vim.lsp.codelens.refresh({ bufnr = bufnr })
    end
  end
  vim.api.nvim_buf_attach(bufnr, false, {
    on_lines = function()
      if not is_due then
        is_due = true
        vim.schedule(refresh)
      end
    end,
  })
  refresh()
end

---Offer in a buffer what a server completes, as soon as its sign is typed. Neovim 0.10 leaves that to plugins.
---@param bufnr integer
---@param client_id integer
function M.complete(bufnr, client_id)
  if M.IS_NEW then
    vim.bo[bufnr].completeopt = "menuone,noselect,popup"
    vim.lsp.completion.enable(true, client_id, bufnr, { autotrigger = true })
  end
end

---The byte of a line that a position's character is at.
---@param line string
---@param character integer
---@param encoding string
---@return integer
function M.byte(line, character, encoding)
  if encoding == "utf-8" then
    return math.min(character, #line)
  end
  local ok, column
  if M.IS_NEW then
    ok, column = pcall(vim.str_byteindex, line, encoding, character, false)
  else
    ok, column = pcall(vim.str_byteindex, line, character, encoding == "utf-16")
  end
  return ok and column or #line
end

---The character of a line that a byte is at.
---@param line string
---@param byte integer
---@param encoding string
---@return integer
function M.character(line, byte, encoding)
  if encoding == "utf-8" then
    return byte
  elseif M.IS_NEW then
    return vim.str_utfindex(line, encoding, byte, false)
  end
  local points, pairs_of = vim.str_utfindex(line, byte)
  return encoding == "utf-16" and pairs_of or points
end

return M
