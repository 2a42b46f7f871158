-- The server's life: one client for each root, started with the first file, started again when it dies.

local compat = require("odin.client.compat")
local config = require("odin.config")
local roots = require("odin.client.roots")
local words = require("odin.words")

local M = {}

M.NAME = "odin"
local HERE = debug.getinfo(1, "S").source:sub(2)
local PLUGIN = vim.fn.fnamemodify(vim.uv.fs_realpath(HERE) or HERE, ":p:h:h:h:h")
---How long a server may take to end before the next one is started.
local ENDING_MS = 3000

---@type table<string, boolean> Roots whose server is on its way.
local starting = {}
---@type table<string, fun(client: vim.lsp.Client)[]> By root: what waits until the server is ready.
local waiting = {}
---@type table<string, fun()> By root: what is to be done when the server has ended, as the user wants it to.
local ending = {}
---What the client is made of, for `vim.lsp.config` and `vim.lsp.start` alike.
---@return table
function M.config()
  local settings = config.get()
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.experimental = {
    odin = {
      version = 1,
      events = true,
      review = true,
      question = true,
      save = true,
      reload = true,
      selection = true,
      editor = { "request", "diagnostics" },
    },
  }
  capabilities.workspace.workspaceEdit.documentChanges = true -- Neovim knows them, and their versions
  local options = { settings = vim.empty_dict(), trusted = settings.trusted }
  if next(settings.settings) then
    options.settings = settings.settings
  end
  return {
    name = M.NAME,
    cmd = settings.cmd,
    capabilities = capabilities,
    init_options = options,
    handlers = require("odin.client.handlers"),
    commands = require("odin.plans").COMMANDS,
    before_init = function(_, started)
      starting[roots.of_client(started)] = true
    end,
    on_init = function(client)
      if not compat.IS_NEW then
        -- Neovim 0.10 says "No information available" for each client without a hover.
        client.server_capabilities.hoverProvider = nil
      end
      M.ready(client)
    end,
    on_exit = function(code, signal, client_id)
      local client = vim.lsp.get_client_by_id(client_id)
      vim.schedule(function()
        M.ended(client_id, client and roots.of_client(client.config), code, signal)
      end)
    end,
    reuse_client = M.is_same,
    root_dir = function(bufnr, start)
      if M.is_ours(bufnr) then
        start(roots.of(bufnr))
      end
    end,
  }
end

---A file was opened: its server is started. `vim.lsp` takes longer to load than the plugin, and has waited for the
---first one; it looks at files that are open already only when Neovim has started.
---@param event { buf: integer }
---@return boolean? is_last Whether it need not be told of any other file.
function M.opened(event)
  if not compat.IS_NEW then
    if M.is_ours(event.buf) then
      M.attach(event.buf)
    end
    return
  end
  local function enable()
    vim.lsp.enable(M.NAME)
  end
  if vim.v.vim_did_enter == 1 then
    enable()
  else
    vim.api.nvim_create_autocmd("VimEnter", { once = true, callback = enable })
  end
  return true
end

---Take the settings as they are now; they count for servers that are started from here on.
function M.reconfigure()
  if compat.IS_NEW then
    vim.lsp.config(M.NAME, M.config())
  end
end

---Whether the server wants to know of a buffer: it shows a file, and there is a server.
---@param bufnr integer
---@return boolean
function M.is_ours(bufnr)
  return vim.bo[bufnr].buftype == "" and vim.api.nvim_buf_get_name(bufnr) ~= "" and M.problem() == nil
end

---Why there can be no server, and what to do.
---@return string?
function M.problem()
  local cmd = config.get().cmd
  if vim.fn.executable(cmd[1]) == 1 then
    return nil
  end
  local clone = vim.fs.joinpath(PLUGIN, "../..")
  local is_clone = vim.fn.filereadable(vim.fs.joinpath(clone, "pyproject.toml")) == 1
  local package = is_clone and vim.fn.fnamemodify(vim.uv.fs_realpath(clone), ":~") or "odin-lsp"
  return ("`%s` is not installed: run `pipx install %s`"):format(cmd[1], package)
end

---@param bufnr integer
function M.attach(bufnr)
  local settings = M.config()
  settings.root_dir = roots.of(bufnr)
  settings.workspace_folders = roots.folders(settings.root_dir)
  vim.lsp.start(settings, { bufnr = bufnr, reuse_client = M.is_same })
end

---@return boolean
function M.is_same(client, wanted)
  local is_open = client.name == M.NAME and not client.rpc.is_closing()
  return is_open and roots.of_client(client.config) == roots.of_client(wanted)
end

---Odin's clients that are ready, the one of this root alone if one is named.
---@param root? string
---@return vim.lsp.Client[]
function M.clients(root)
  return vim.tbl_filter(function(client)
    return not client.rpc.is_closing() and (root == nil or roots.of_client(client.config) == root)
  end, vim.lsp.get_clients({ name = M.NAME }))
end

---Call back with the client of a root, as soon as it is ready; it is started if there is none.
---@param root string
---@param use fun(client: vim.lsp.Client)
function M.with_client(root, use)
  local client = M.clients(root)[1]
  if client then
    use(client)
    return
  end
  local problem = M.problem()
  if problem then
    words.say(problem, vim.log.levels.ERROR)
    return
  end
  waiting[root] = waiting[root] or {}
  table.insert(waiting[root], use)
  if not starting[root] then
    M.start(root)
  end
end

---Start a server for a root, with the files of it that are open.
---@param root string
function M.start(root)
  local settings = M.config()
  settings.root_dir = root
  settings.workspace_folders = roots.folders(root)
  local id = compat.start(settings)
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if id and vim.api.nvim_buf_is_loaded(bufnr) and M.is_ours(bufnr) and roots.of(bufnr) == root then
      vim.lsp.buf_attach_client(bufnr, id)
    end
  end
end

---@param client vim.lsp.Client
function M.ready(client)
  local root = roots.of_client(client.config)
  local queue = waiting[root] or {}
  starting[root], waiting[root] = nil, nil
  vim.schedule(function()
    require("odin.chat.prompt").attach(root)
    for _, use in ipairs(queue) do
      use(client)
    end
  end)
end

---The server of a root has ended: say so, forget what was pending, offer to start it again.
---@param client_id integer
---@param root string?
---@param code integer
---@param signal integer
function M.ended(client_id, root, code, signal)
  local was_starting = root and starting[root]
  if root then
    starting[root], waiting[root] = nil, nil
  end
  require("odin.review").forget(client_id)
  require("odin.chat.question").forget(client_id)
  local chat = require("odin.chat").of_client(client_id)
  if root and ending[root] then
    if chat then
      chat:server_ended()
    end
    ending[root]()
    return
  end
  if vim.v.exiting ~= vim.NIL or not (chat or was_starting) then
    return
  end
  local why = ("the server stopped (code %d, signal %d)"):format(code, signal)
  if not chat then
    words.say(why .. "; run :checkhealth odin", vim.log.levels.ERROR)
    return
  end
  chat:server_ended(why)
  require("odin.chat.question").when_idle(function()
    local prompt = "Odin's server stopped. The chat is kept. Restart the server?"
    require("odin.pick").from({ "Restart", "Not now" }, { prompt = prompt, kind = "confirm" }, function(choice)
      if choice == "Restart" then
        M.restart(chat.root)
      end
    end)
  end)
end

---Start the server again, when the one that runs has left what it holds. The chat goes on with its session.
---@param root string
function M.restart(root)
  local clients = M.clients(root)
  local function start()
    if ending[root] ~= start then
      return
    end
    ending[root] = nil
    M.with_client(root, function()
      words.say("the server was restarted")
      require("odin.session.sessions").go_on(root)
    end)
  end
  ending[root] = start
  if #clients == 0 then
    start()
    return
  end
  for _, client in ipairs(clients) do
    client.rpc.terminate()
  end
  vim.defer_fn(start, ENDING_MS)
end

return M
