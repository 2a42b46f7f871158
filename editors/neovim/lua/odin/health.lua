-- `:checkhealth odin`

local M = {}

function M.check()
  local health, server = vim.health, require("odin.server")
  health.start("Odin")
  local version = vim.version()
  health.ok(("Neovim %d.%d.%d"):format(version.major, version.minor, version.patch))
  local problem = server.problem()
  if problem then
    health.error(problem)
    return
  end
  local cmd = require("odin.config").get().cmd
  local asked = vim.system(vim.list_extend(vim.list_slice(cmd), { "--version" }), { text = true }):wait(10000)
  if asked.code == 0 then
    health.ok(("%s: %s"):format(table.concat(cmd, " "), vim.trim(asked.stdout)))
  else
    health.error(("%s --version failed: %s"):format(table.concat(cmd, " "), vim.trim(asked.stderr or "")))
  end
  local clients = server.clients()
  for _, client in ipairs(clients) do
    local info = vim.tbl_get(client.server_capabilities or {}, "experimental", "odin") or {}
    local open = require("odin.words").count(vim.tbl_count(client.attached_buffers), "buffer")
    health.ok(("%s: model %s, %s"):format(client.config.root_dir, info.model or "unknown", open))
  end
  if #clients == 0 then
    health.info("no server is running; it starts with the first file")
  end
end

return M
