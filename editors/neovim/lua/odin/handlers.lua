-- What the server sends, and who answers it. A request is answered by what its handler returns; `vim.NIL` is null.

---@param answer fun(params: table, client: vim.lsp.Client): any
local function request(answer)
  return function(_, params, context)
    local client = vim.lsp.get_client_by_id(context.client_id)
    local result = client and answer(params, client)
    return result == nil and vim.NIL or result
  end
end

return {
  ["odin/event"] = function(_, record, context)
    require("odin.events").take(record, context.client_id)
  end,
  ["odin/review"] = request(function(proposal, client)
    return require("odin.review").wait(proposal, client)
  end),
  ["odin/question"] = request(function(question, client)
    return require("odin.question").ask(question, client)
  end),
  ["odin/save"] = request(function(params)
    return require("odin.files").save(params.uris)
  end),
  ["odin/reload"] = request(function(params)
    return require("odin.files").reload(params.uris)
  end),
  ["window/showDocument"] = function(err, params, context)
    params.takeFocus = false -- the user may be typing
    return vim.lsp.handlers["window/showDocument"](err, params, context)
  end,
  ["workspace/applyEdit"] = function(_, params, context)
    return require("odin.files").apply(params, context)
  end,
}
