-- What the server sends, and who answers it. A request is answered by what its handler returns; `vim.NIL` is null.

---@param answer fun(params: table, client: vim.lsp.Client): any
local function request(answer)
  return function(_, params, context)
    local client = vim.lsp.get_client_by_id(context.client_id)
    if not client then
      return vim.NIL
    end
    local result, problem = answer(params, client)
    if problem then
      return nil, problem
    end
    return result == nil and vim.NIL or result
  end
end

---The same for what depends on others: an error is the answer then, since nobody would see one in a coroutine.
---@param answer fun(params: table, client: vim.lsp.Client): any
local function guarded(answer)
  return request(function(params, client)
    local ok, result = pcall(answer, params, client)
    return result, not ok and { code = vim.lsp.protocol.ErrorCodes.InternalError, message = tostring(result) } or nil
  end)
end

return {
  ["odin/event"] = function(_, record, context)
    require("odin.client.events").take(record, context.client_id)
  end,
  ["odin/watchSelection"] = function(_, params, context)
    local client = vim.lsp.get_client_by_id(context.client_id)
    if client then
      require("odin.client.selection").watch(params.enabled, client)
    end
  end,
  ["odin/review"] = request(function(proposal, client)
    return require("odin.review").wait(proposal, client)
  end),
  ["odin/question"] = request(function(question, client)
    return require("odin.chat.question").ask(question, client)
  end),
  ["odin/save"] = request(function(params)
    return require("odin.client.files").save(params.uris)
  end),
  ["odin/reload"] = request(function(params)
    return require("odin.client.files").reload(params.uris)
  end),
  ["odin/editor/request"] = guarded(function(params, client)
    return require("odin.intelligence.lookups").answer(params, client)
  end),
  ["odin/editor/diagnostics"] = guarded(function(params, client)
    return require("odin.intelligence.problems").answer(params, client)
  end),
  ["window/showDocument"] = function(err, params, context)
    if params.external then
      return vim.lsp.handlers["window/showDocument"](err, params, context)
    end
    return { success = require("odin.client.files").show(params) }
  end,
  ["workspace/applyEdit"] = function(_, params, context)
    return require("odin.client.files").apply(params, context)
  end,
}
