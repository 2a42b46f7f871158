---@meta
-- What travels between the plugin and the server, for LuaLS; the server's docs/protocol.md says more.

---@class odin.EventRecord
---@field seq integer
---@field turnId string
---@field sessionId string
---@field agentId string
---@field event table<string, any> With `kind`.
---@field at? number Seconds since 1970.

---@class odin.EventPage
---@field events odin.EventRecord[]
---@field earlierTurns integer
---@field before? integer
---@field seq? integer

---@class odin.QueuedMessage
---@field turnId string
---@field body string

---@class odin.ContextItem
---@field kind "selection"|"file"|"diagnostics"|"command"|"text"
---@field content? string
---@field uri? string
---@field range? lsp.Range

---@class odin.Usage
---@field inputTokens? integer
---@field outputTokens? integer
---@field cacheReadTokens? integer
---@field cacheWriteTokens? integer
---@field costUsd? number

---@class odin.Todo
---@field id string
---@field content string
---@field status "pending"|"in_progress"|"completed"

---@class odin.Proposal
---@field proposalId string
---@field turnId string
---@field reason string
---@field files odin.ProposedFile[]

---@class odin.ProposedFile
---@field uri string
---@field operation "edit"|"create"|"delete"|"rename"
---@field newUri? string
---@field proposedText string
---@field hunks odin.Hunk[]
---@field note? string

---@class odin.Hunk
---@field id string
---@field range lsp.Range
---@field oldText string
---@field newText string
---@field reason string
---@field text? string What the user has put in place of the new text.
---@field state? "pending"|"accepted"|"rejected"|"modified"|"superseded"

---@class odin.Receipt
---@field hunkId string
---@field uri string
---@field state "pending"|"accepted"|"rejected"|"modified"|"superseded"
---@field text? string
---@field reason? string

---@class odin.Question
---@field questionId string
---@field kind "permission"|"outside"|"trust"|"question"
---@field header? string
---@field title string
---@field detail? string
---@field command? string
---@field cwd? string
---@field paths? string[]
---@field options? { id: string, label: string, description?: string }[]
---@field default? string
---@field multiple? boolean
---@field allowText? boolean
---@field editable? boolean
---@field timeoutMs? integer

---@class odin.Session
---@field sessionId string
---@field title string
---@field updatedAt number
---@field locked boolean
---@field uri string Its transcript.
