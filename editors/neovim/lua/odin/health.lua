-- `:checkhealth odin`

local display = require("odin.display")

local M = {}

function M.check()
  local health, life = vim.health, require("odin.client.life")
  health.start("Odin")
  local version = vim.version()
  health.ok(("Neovim %d.%d.%d"):format(version.major, version.minor, version.patch))
  local problem = life.problem()
  if problem then
    health.error(problem, "or set vim.g.odin = { cmd = { … } } to the command that starts it")
    return
  end
  local cmd = require("odin.config").get().cmd
  local asked = vim.system(vim.list_extend(vim.list_slice(cmd), { "--version" }), { text = true }):wait(10000)
  if asked.code == 0 then
    health.ok(display.text(("%s: %s"):format(table.concat(cmd, " "), vim.trim(asked.stdout))))
  else
    health.error(display.text(("%s --version failed: %s"):format(table.concat(cmd, " "), vim.trim(asked.stderr or ""))))
  end
  local clients = life.clients()
  for _, client in ipairs(clients) do
    local info = vim.tbl_get(client.server_capabilities or {}, "experimental", "odin") or {}
    local open = require("odin.words").count(vim.tbl_count(client.attached_buffers), "buffer")
    local told = display.line(("%s: model %s, %s"):format(client.config.root_dir, info.model or "unknown", open))
    if vim.startswith(info.model or "", "offline/") then
      local how = "set ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY before you start Neovim"
      health.warn(told .. ": no API key is set, so offline search answers", how)
    else
      health.ok(told)
    end
  end
  if #clients == 0 then
    health.info("no server is running; it starts with the first file")
  end
end

return M
