-- Made by docs/generate.py from the server's code. Do not edit.

---@class odin.AcceptParams
---@field proposalId? string
---@field hunkIds? string[]
---@field uri? string
---@field texts? table<string, string>

---@class odin.AccountListing
---@field provider string
---@field title string
---@field models? odin.AccountModel[]
---@field problem? string

---@class odin.AccountModel
---@field ref string
---@field title? string
---@field context? integer
---@field maxOutput? integer

---@class odin.AgentCallParams
---@field agent string
---@field tool string
---@field arguments table<string, any>
---@field conversation? string
---@field turnId? string

---@class odin.AgentCalled
---@field sessionId string
---@field turnId string
---@field text string
---@field failed boolean
---@field images? odin.AgentImage[]

---@class odin.AgentImage
---@field mediaType string
---@field data string

---@class odin.Allowed
---@field id string
---@field tool string
---@field pattern string
---@field mode string
---@field scope "session"|"workspace"|"always"
---@field since string

---@class odin.Answer
---@field optionIds? string[]
---@field text? string
---@field command? string

---@class odin.AnswerParams
---@field questionId string
---@field optionId string

---@class odin.Answered
---@field answered boolean

---@class odin.Attached
---@field digest string
---@field mediaType string
---@field name? string
---@field width? integer
---@field height? integer

---@class odin.AttachmentData
---@field data string

---@class odin.AttachmentParams
---@field digest string
---@field sessionId? string

---@class odin.BeginParams
---@field command "odin.ask"|"odin.plan"|"odin.edit"|"odin.prompt"|"odin.send"|"odin.executePlan"|"odin.plan.refuse"|"odin.undoTurn"|"odin.provenance.open"
---@field argument table<string, any>

---@class odin.Begun
---@field begun boolean

---@class odin.Brought
---@field digest string
---@field items odin.BroughtItem[]
---@field text string

---@class odin.BroughtItem
---@field id string
---@field kind "hook"|"server"|"languageServer"|"command"|"agent"|"skill"|"setting"
---@field name string
---@field what string
---@field program? string
---@field address? string
---@field variables? string[]
---@field file string
---@field includes? string[]
---@field state? "new"|"changed"|"agreed"|"refused"

---@class odin.BroughtParams

---@class odin.CachedFile
---@field filePath string
---@field size integer
---@field isModified boolean
---@field cachedAt number
---@field isTruncated boolean

---@class odin.CancelParams
---@field turnId? string
---@field agentId? string
---@field only? "compaction"
---@field drop? boolean
---@field queue? "keep"|"next"|"return"

---@class odin.Cancelled
---@field cancelled boolean
---@field returned? odin.QueuedMessage[]

---@class odin.CheckedKey
---@field verdict "accepted"|"refused"|"unknown"
---@field detail? string

---@class odin.ClearParams
---@field sessionId? string

---@class odin.CommandRun
---@field command string
---@field exitCode? integer
---@field durationMs? integer
---@field output? string

---@class odin.CommentRequestsParams
---@field kind "edit"|"ask"

---@class odin.CompactParams
---@field sessionId? string
---@field focus? string
---@field turnId? string

---@class odin.CompactResult
---@field before integer
---@field after integer

---@class odin.ContextInstructions
---@field path string
---@field of "user"|"project"
---@field tokens integer

---@class odin.ContextItem
---@field kind "selection"|"file"|"folder"|"diagnostics"|"command"|"text"
---@field content? string
---@field uri? string
---@field range? odin.Range
---@field version? integer
---@field sourceCommand? string
---@field name? string

---@class odin.ContextParams
---@field text? string
---@field mode? "ask_mode"|"plan_mode"|"edit_mode"
---@field sessionId? string
---@field exact? boolean

---@class odin.ContextPart
---@field kind "system"|"tool"|"message"
---@field name string
---@field tokens integer
---@field content string

---@class odin.ContextPreview
---@field sessionId string
---@field mode "ask_mode"|"plan_mode"|"edit_mode"
---@field model string
---@field tokens integer
---@field counted? integer
---@field notCounted? string
---@field contextLimit integer
---@field costUsd number
---@field cachedCostUsd number
---@field switchedCostUsd number
---@field spent odin.Usage
---@field parts odin.ContextPart[]
---@field instructions? odin.ContextInstructions[]
---@field files? odin.SeenFile[]
---@field servers? odin.ContextServer[]

---@class odin.ContextServer
---@field name string
---@field tools integer
---@field listed boolean
---@field tokens integer

---@class odin.ContinueParams
---@field sessionId? string

---@class odin.Decision
---@field hunkId string
---@field decision "accept"|"reject"|"modify"
---@field text? string
---@field reason? string

---@class odin.DeleteSessionParams
---@field sessionId string
---@field confirm? boolean

---@class odin.Deleted
---@field sessionId string

---@class odin.Diagnostic
---@field uri string
---@field line integer
---@field severity "error"|"warning"|"information"|"hint"
---@field message string
---@field source? string
---@field code? string

---@class odin.DocumentDiagnostics
---@field uri string
---@field diagnostics table<string, any>[]
---@field current boolean
---@field version? integer

---@class odin.EditorAnswer
---@field server string
---@field ready boolean
---@field result? any

---@class odin.EditorAnswers
---@field answers odin.EditorAnswer[]
---@field late? string[]
---@field failed? odin.EditorFailure[]

---@class odin.EditorDiagnostics
---@field items odin.DocumentDiagnostics[]

---@class odin.EditorDiagnosticsParams
---@field uris string[]
---@field patienceMs integer

---@class odin.EditorFailure
---@field server string
---@field reason string

---@class odin.EditorRequest
---@field method string
---@field uri string
---@field params table<string, any>
---@field timeoutMs integer

---@class odin.EventPage
---@field events odin.EventRecord[]
---@field earlierTurns integer
---@field before? integer
---@field seq? integer

---@class odin.EventRecord
---@field seq integer
---@field turnId string
---@field sessionId string
---@field agentId string
---@field event odin.Event
---@field at? number
---@field messageId? string

---@class odin.ExecutePlanParams
---@field uri string
---@field steps? integer[]
---@field turnId? string

---@class odin.ExportSessionParams
---@field sessionId? string
---@field format? "markdown"|"html"|"json"
---@field path? string

---@class odin.Exported
---@field sessionId string
---@field uri string

---@class odin.ExtensionList
---@field extensions odin.Listed[]

---@class odin.ExtensionsParams
---@field action? "list"|"enable"|"disable"
---@field name? string
---@field names? string[]
---@field kind? "agent"|"skill"|"command"|"hook"|"mcp"|"file"

---@class odin.FilesParams

---@class odin.ForkSessionParams
---@field sessionId? string
---@field message? integer

---@class odin.FoundFiles
---@field files string[]

---@class odin.FoundRequest
---@field uri string
---@field range odin.Range
---@field kind "edit"|"ask"
---@field text string

---@class odin.FoundRequests
---@field requests odin.FoundRequest[]
---@field text string

---@class odin.FoundServer
---@field name string
---@field url string
---@field models string[]

---@class odin.ImageItem
---@field data? string
---@field uri? string
---@field digest? string
---@field name? string
---@field mediaType? string

---@class odin.InitOptions
---@field settings? table<string, any>
---@field secrets? table<"anthropic"|"google"|"openai", string>
---@field trusted? boolean

---@class odin.InitParams
---@field turnId? string

---@class odin.InstructionFile
---@field path string
---@field size integer
---@field isCut boolean

---@class odin.KeptFile
---@field uri string
---@field reason string
---@field hunkIds? string[]

---@class odin.KeyCheckParams
---@field provider "anthropic"|"google"|"openai"
---@field key string

---@class odin.LineSpan
---@field first integer
---@field last integer

---@class odin.ListSessionsParams
---@field query? string
---@field limit? integer

---@class odin.Listed
---@field kind "agent"|"skill"|"command"|"hook"|"mcp"|"file"
---@field name string
---@field source string
---@field owner "user"|"project"
---@field state "on"|"off"|"untrusted"|"hidden"|"broken"
---@field tokens? integer
---@field description? string
---@field problem? string
---@field running? "configured"|"starting"|"ready"|"retrying"|"failed"|"disabled"
---@field attempt? integer
---@field maxAttempts? integer

---@class odin.MarkStepParams
---@field uri string
---@field step integer
---@field status "open"|"done"|"skipped"

---@class odin.McpState
---@field name string
---@field transport "stdio"|"http"|"sse"
---@field state "configured"|"starting"|"ready"|"retrying"|"failed"|"disabled"
---@field attempt? integer
---@field maxAttempts? integer
---@field tools? integer
---@field tokens? integer
---@field memory? integer
---@field problem? string

---@class odin.Mentioned
---@field agents integer

---@class odin.MessageParams
---@field text string
---@field typed? boolean
---@field turnId? string
---@field sessionId? string
---@field context? odin.ContextItem[]
---@field images? odin.ImageItem[]
---@field temperature? number
---@field maxTokens? integer
---@field options? odin.TurnOptions

---@class odin.ModelFacts
---@field context integer
---@field inputUsd number
---@field outputUsd number

---@class odin.ModelParams
---@field model? string
---@field smallModel? string
---@field sessionId? string
---@field findLocal? boolean
---@field askAccounts? "beside"|"wait"|"anew"

---@class odin.ModelState
---@field model string
---@field smallModel string
---@field running string
---@field available string[]
---@field efforts? table<string, ("low"|"medium"|"high")[]>
---@field picked? boolean
---@field smallPicked? boolean
---@field facts? table<string, odin.ModelFacts>
---@field local? odin.FoundServer[]
---@field accounts? odin.AccountListing[]

---@class odin.ModelStatus
---@field selected string
---@field running string
---@field keysReady integer
---@field keys integer
---@field nextKeyIn number
---@field contextLimit integer
---@field outputLimit integer
---@field rateLimit? odin.RateLimit
---@field proxied? boolean

---@class odin.NewSessionParams
---@field title? string

---@class odin.NoteParams
---@field text string
---@field sessionId? string

---@class odin.Noted
---@field noted boolean

---@class odin.Notices
---@field notices odin.OpeningNotice[]

---@class odin.NoticesParams

---@class odin.OpenTurnParams
---@field sessionId string
---@field turnId string

---@class odin.OpenedTurn
---@field uri string
---@field line integer

---@class odin.OpeningNotice
---@field level "info"|"warning"|"error"
---@field message string

---@class odin.Option
---@field id string
---@field label string
---@field description? string

---@class odin.Outcome
---@field turnId string
---@field sessionId string
---@field mode "ask_mode"|"plan_mode"|"edit_mode"
---@field reason "end_turn"|"max_turns"|"max_budget"|"max_tokens"|"refused"|"loop"|"interrupted"|"aborted"|"failed"
---@field answer string
---@field detail? string
---@field problem? odin.Problem
---@field plan? string
---@field todos? odin.Todo[]
---@field tools? odin.ToolRecord[]
---@field receipts? odin.Receipt[]
---@field diagnostics? odin.Diagnostic[]
---@field usage? odin.Usage
---@field durationMs? integer
---@field modelMs? integer
---@field steps? integer

---@class odin.Permissions
---@field allowed odin.Allowed[]

---@class odin.PermissionsParams
---@field action? "list"|"remove"
---@field id? string
---@field sessionId? string

---@class odin.PlanStep
---@field title string
---@field status "open"|"done"|"skipped"

---@class odin.PlanSteps
---@field steps odin.PlanStep[]

---@class odin.Position
---@field line integer
---@field character integer

---@class odin.Problem
---@field kind "key"|"limited"|"unavailable"|"too_long"|"model"|"session"|"request"|"internal"
---@field provider? string
---@field retryAfter? number

---@class odin.PromptParams
---@field mode "ask"|"plan"|"edit"
---@field context? odin.ContextItem[]
---@field turnId? string

---@class odin.Proposals
---@field proposals odin.Review[]

---@class odin.ProvenanceParams
---@field uri string

---@class odin.Question
---@field questionId string
---@field kind "permission"|"outside"|"trust"|"review"|"question"
---@field header? string
---@field title string
---@field detail? string
---@field command? string
---@field cwd? string
---@field paths? string[]
---@field options? odin.Option[]
---@field default? string
---@field multiple? boolean
---@field allowText? boolean
---@field editable? boolean
---@field timeoutMs? integer
---@field items? odin.BroughtItem[]

---@class odin.Queue
---@field queue odin.QueuedMessage[]

---@class odin.QueueParams
---@field action "list"|"edit"|"remove"|"clear"|"resume"
---@field turnId? string
---@field text? string
---@field mode? "ask_mode"|"plan_mode"|"edit_mode"
---@field context? odin.ContextItem[]
---@field images? odin.ImageItem[]

---@class odin.QueuedMessage
---@field turnId string
---@field body string
---@field mode "ask_mode"|"plan_mode"|"edit_mode"
---@field timestamp number
---@field context? odin.ContextItem[]
---@field attached? odin.Attached[]
---@field options? odin.TurnOptions

---@class odin.Range
---@field start odin.Position
---@field end odin.Position

---@class odin.RateLimit
---@field requestsLimit? integer
---@field requestsLeft? integer
---@field tokensLimit? integer
---@field tokensLeft? integer
---@field resetsIn? number

---@class odin.Receipt
---@field hunkId string
---@field uri string
---@field state "pending"|"accepted"|"rejected"|"modified"|"superseded"
---@field text? string
---@field reason? string
---@field cause? "person"|"typed"|"gone"|"not_applied"|"not_shown"|"cancelled"|"late"

---@class odin.Receipts
---@field receipts odin.Receipt[]

---@class odin.RefusePlanParams
---@field uri string
---@field reason? string
---@field turnId? string

---@class odin.RejectParams
---@field proposalId? string
---@field hunkIds? string[]
---@field uri? string
---@field reason? string

---@class odin.RemoveLastParams
---@field sessionId? string

---@class odin.Removed
---@field removed boolean

---@class odin.RenameSessionParams
---@field title string
---@field sessionId? string

---@class odin.ReopenParams
---@field proposalId? string
---@field hunkIds? string[]
---@field uri? string

---@class odin.ResumeSessionParams
---@field sessionId? string

---@class odin.Retry
---@field attempt integer
---@field attempts integer
---@field wait number
---@field reason string

---@class odin.Review
---@field proposalId string
---@field turnId string
---@field reason string
---@field files odin.ReviewFile[]
---@field sessionId? string
---@field atomic? boolean
---@field origin? string

---@class odin.ReviewAnswer
---@field decisions? odin.Decision[]
---@field restOfTurn? "accept"

---@class odin.ReviewFile
---@field uri string
---@field version? integer
---@field operation "edit"|"create"|"delete"|"rename"
---@field newUri? string
---@field baseHash string
---@field proposedText string
---@field hunks odin.ReviewHunk[]
---@field note? string

---@class odin.ReviewHunk
---@field id string
---@field range odin.Range
---@field oldText string
---@field newText string
---@field reason string
---@field state? "pending"|"accepted"|"rejected"|"modified"|"superseded"
---@field text? string

---@class odin.ReviewListParams

---@class odin.ReviewedFile
---@field uri string
---@field accepted integer
---@field rejected integer

---@class odin.RoleChoice
---@field name string
---@field description string
---@field models string[]

---@class odin.RoleParams
---@field role? string

---@class odin.RoleState
---@field role string
---@field roles odin.RoleChoice[]

---@class odin.SeenFile
---@field path string
---@field at number
---@field seen odin.Stretch[]
---@field isWhole boolean
---@field isCurrent boolean
---@field changed? odin.LineSpan[]

---@class odin.SelectionParams
---@field uri string
---@field range odin.Range

---@class odin.SendParams
---@field uri string
---@field turnId? string

---@class odin.SentContext
---@field kind "selection"|"file"|"folder"|"diagnostics"|"command"|"text"
---@field uri? string
---@field name? string
---@field firstLine? integer
---@field lastLine? integer

---@class odin.ServerInfo
---@field version integer
---@field server string
---@field model string
---@field smallModel string
---@field modes string[]
---@field tools string[]
---@field roots? string[]
---@field skills? string[]
---@field resident? boolean

---@class odin.ServerState
---@field name string
---@field root string
---@field state "starting"|"loading"|"ready"|"stopped"|"given up"
---@field owner? "odin"|"editor"
---@field errors? integer
---@field warnings? integer
---@field memory? integer
---@field problem? string

---@class odin.SessionEventsParams
---@field sessionId? string
---@field before? integer
---@field limit? integer

---@class odin.SessionSummary
---@field sessionId string
---@field title string
---@field createdAt number
---@field updatedAt number
---@field messages integer
---@field firstMessage string
---@field forkedFrom? string
---@field isCompacted? boolean
---@field locked boolean
---@field uri string
---@field excerpt? string
---@field draft? string

---@class odin.Sessions
---@field sessions odin.SessionSummary[]

---@class odin.SlashCommand
---@field name string
---@field kind "builtin"|"command"|"skill"|"prompt"
---@field description string
---@field hint? string
---@field how? "answer"|"says"|"mode"|"session"|"person"
---@field command? string
---@field source? string

---@class odin.SlashCommands
---@field commands odin.SlashCommand[]

---@class odin.SlashCommandsParams

---@class odin.State
---@field sessionId string
---@field mode "ask_mode"|"plan_mode"|"edit_mode"
---@field messages odin.TurnRecord[]
---@field earlierMessages integer
---@field queue odin.QueuedMessage[]
---@field unbegun odin.QueuedMessage[]
---@field suspended boolean
---@field executing boolean
---@field compacting boolean
---@field updates string[]
---@field subagents odin.SubagentRecord[]
---@field earlierSubagents odin.SubagentRecord[]
---@field todos odin.Todo[]
---@field usage odin.Usage
---@field context string[]
---@field instructions string
---@field instructionFiles odin.InstructionFile[]
---@field config table<string, any>
---@field cache odin.CachedFile[]
---@field cacheConfig table<string, any>
---@field models odin.ModelStatus[]
---@field languageServers odin.ServerState[]
---@field mcpServers odin.McpState[]

---@class odin.StateParams
---@field sessionId? string

---@class odin.SteerParams
---@field text string
---@field turnId? string
---@field agentId? string
---@field context? odin.ContextItem[]

---@class odin.Steered
---@field taken boolean

---@class odin.Stretch
---@field first integer
---@field last integer
---@field digest string

---@class odin.SubagentRecord
---@field agentId string
---@field turnId string
---@field callId string
---@field description string
---@field prompt? string
---@field agent? string
---@field mode "ask_mode"|"plan_mode"|"edit_mode"
---@field model string
---@field writeScope? string[]
---@field status "running"|"completed"|"stopped"|"failed"|"cancelled"
---@field summary? string
---@field filesChanged? string[]
---@field verificationRun? string[]
---@field remainingLimitations? string[]
---@field knownRisks? string[]
---@field followUpRecommended? string[]
---@field artifacts? string[]
---@field todos? odin.Todo[]
---@field steps? integer
---@field usage? odin.Usage
---@field startedAt number
---@field endedAt? number

---@class odin.Terms
---@field version string
---@field environment? table<string, string>
---@field settings? table<string, any>

---@class odin.Todo
---@field id string
---@field content string
---@field status "pending"|"in_progress"|"completed"

---@class odin.ToolRecord
---@field name string
---@field description string
---@field affectedFiles string[]
---@field status "success"|"error"|"cancelled"
---@field added? integer
---@field removed? integer
---@field created? boolean
---@field ran? odin.CommandRun

---@class odin.TrustParams
---@field decision "trust"|"restrict"|"ask"
---@field digest? string
---@field items? string[]

---@class odin.Trusted
---@field trusted boolean

---@class odin.TurnOptions
---@field defaultAnswer? string
---@field mayCompact? boolean
---@field showsAnswer? boolean

---@class odin.TurnRecord
---@field turnId string
---@field body string
---@field mode "ask_mode"|"plan_mode"|"edit_mode"
---@field timestamp number
---@field answerSummary string
---@field reason "end_turn"|"max_turns"|"max_budget"|"max_tokens"|"refused"|"loop"|"interrupted"|"aborted"|"failed"
---@field todos odin.Todo[]
---@field toolHistory odin.ToolRecord[]
---@field usage odin.Usage
---@field reviewed? odin.ReviewedFile[]

---@class odin.UndoParams
---@field turnId? string
---@field uri? string
---@field hunkIds? string[]

---@class odin.Undone
---@field restored string[]
---@field kept odin.KeptFile[]
---@field undoId? string

---@class odin.Usage
---@field inputTokens? integer
---@field outputTokens? integer
---@field cacheReadTokens? integer
---@field cacheWriteTokens? integer
---@field costUsd? number
---@field contextTokens? integer
---@field contextLimit? integer

---@class odin.WrittenRange
---@field range odin.Range
---@field turnId string
---@field sessionId string
---@field hunkId string
---@field model string
---@field origin string
---@field at number
---@field state "accepted"|"modified"

---@class odin.WrittenRanges
---@field ranges odin.WrittenRange[]

---@class odin.TurnQueued
---@field position integer
---@field kind "turnQueued"

---@class odin.TurnStarted
---@field mode "ask_mode"|"plan_mode"|"edit_mode"
---@field model string
---@field text? string
---@field attached? odin.Attached[]
---@field context? odin.SentContext[]
---@field kind "turnStarted"

---@class odin.UserSpoke
---@field text string
---@field kind "userSpoke"

---@class odin.ActivityChanged
---@field activity "idle"|"connecting"|"waiting_headers"|"waiting_token"|"streaming"|"executing"|"compacting"|"retrying"|"retrying_key"|"cooling"|"verifying"
---@field detail? string
---@field retry? odin.Retry
---@field kind "activityChanged"

---@class odin.RequestStarted
---@field step integer
---@field attempt integer
---@field kind "requestStarted"

---@class odin.RequestProgress
---@field bytes integer
---@field events integer
---@field kind "requestProgress"

---@class odin.TextStreamed
---@field text string
---@field kind "textStreamed"

---@class odin.ThinkingStarted
---@field kind "thinkingStarted"

---@class odin.ThinkingStreamed
---@field text string
---@field kind "thinkingStreamed"

---@class odin.ThinkingFinished
---@field elapsedMs integer
---@field kind "thinkingFinished"

---@class odin.StreamRolledBack
---@field kind "streamRolledBack"

---@class odin.MessageFinished
---@field text string
---@field toolCalls integer
---@field thinking? string
---@field thinkingMs? integer
---@field kind "messageFinished"

---@class odin.ArgumentsStreamed
---@field callId string
---@field name string
---@field text string
---@field kind "argumentsStreamed"

---@class odin.ToolQueued
---@field callId string
---@field name string
---@field description string
---@field kind "toolQueued"

---@class odin.ToolStarted
---@field callId string
---@field name string
---@field arguments table<string, any>
---@field description string
---@field kind "toolStarted"

---@class odin.ToolProgress
---@field callId string
---@field text string
---@field elapsedMs? integer
---@field kind "toolProgress"

---@class odin.ToolFinished
---@field callId string
---@field name string
---@field status "success"|"error"|"cancelled"
---@field description string
---@field files? string[]
---@field added? integer
---@field removed? integer
---@field created? boolean
---@field diff? string
---@field output? string
---@field durationMs? integer
---@field ran? odin.CommandRun
---@field result? string
---@field audit? "rules"|"user"|"edited"|"hook"
---@field kind "toolFinished"

---@class odin.BackgroundFinished
---@field callId string
---@field backgroundId string
---@field command string
---@field description string
---@field status "exited"|"stopped"|"failed"
---@field message string
---@field log string
---@field output? string
---@field exitCode? integer
---@field durationMs? integer
---@field kind "backgroundFinished"

---@class odin.TodosChanged
---@field todos odin.Todo[]
---@field kind "todosChanged"

---@class odin.ReviewOpened
---@field proposal odin.Review
---@field kind "reviewOpened"

---@class odin.ReviewChanged
---@field proposalId string
---@field hunks odin.ReviewHunk[]
---@field versions? table<string, integer>
---@field kind "reviewChanged"

---@class odin.ReviewClosed
---@field proposalId string
---@field receipts odin.Receipt[]
---@field kind "reviewClosed"

---@class odin.DiagnosticsCompared
---@field introduced? odin.Diagnostic[]
---@field fixed? odin.Diagnostic[]
---@field remaining? integer
---@field unsure? odin.Diagnostic[]
---@field leftOff? integer
---@field unknown? string[]
---@field kind "diagnosticsCompared"

---@class odin.QuestionAsked
---@field question odin.Question
---@field kind "questionAsked"

---@class odin.QuestionAnswered
---@field questionId string
---@field answer? odin.Answer
---@field kind "questionAnswered"

---@class odin.UsageChanged
---@field usage odin.Usage
---@field kind "usageChanged"

---@class odin.SubagentStarted
---@field agentId string
---@field description string
---@field mode "ask_mode"|"plan_mode"|"edit_mode"
---@field kind "subagentStarted"

---@class odin.SubagentFinished
---@field agentId string
---@field status "completed"|"stopped"|"failed"|"cancelled"
---@field summary string
---@field kind "subagentFinished"

---@class odin.Compacted
---@field status "started"|"succeeded"|"failed"|"cancelled"
---@field before integer
---@field after integer
---@field inBackground? boolean
---@field kind "compacted"

---@class odin.ModelChanged
---@field selected string
---@field running string
---@field kind "modelChanged"

---@class odin.RoleChanged
---@field role string
---@field kind "roleChanged"

---@class odin.ModelStatusChanged
---@field status odin.ModelStatus
---@field kind "modelStatusChanged"

---@class odin.ServersChanged
---@field mcpServers? odin.McpState[]
---@field languageServers? odin.ServerState[]
---@field kind "serversChanged"

---@class odin.Notice
---@field level "info"|"warning"|"error"
---@field message string
---@field kind "notice"

---@class odin.TurnEdited
---@field mode "ask_mode"|"plan_mode"|"edit_mode"
---@field text string
---@field attached? odin.Attached[]
---@field context? odin.SentContext[]
---@field kind "turnEdited"

---@class odin.TrustChanged
---@field trusted boolean
---@field kind "trustChanged"

---@class odin.SessionBegun
---@field sessionId string
---@field title string
---@field how? "new"|"resume"|"fork"
---@field kind "sessionBegun"

---@class odin.SessionSwitchStarted
---@field sessionId string
---@field how? "new"|"resume"|"fork"
---@field kind "sessionSwitchStarted"

---@class odin.SessionRestored
---@field sessionId string
---@field title string
---@field messages integer
---@field how? "new"|"resume"|"fork"
---@field kind "sessionRestored"

---@class odin.SessionRenamed
---@field title string
---@field kind "sessionRenamed"

---@class odin.TurnFinished
---@field outcome odin.Outcome
---@field kind "turnFinished"

---@class odin.TurnUndone
---@field restored string[]
---@field kept? odin.KeptFile[]
---@field undoId? string
---@field again? boolean
---@field kind "turnUndone"

---@alias odin.Event
---| odin.TurnQueued
---| odin.TurnStarted
---| odin.UserSpoke
---| odin.ActivityChanged
---| odin.RequestStarted
---| odin.RequestProgress
---| odin.TextStreamed
---| odin.ThinkingStarted
---| odin.ThinkingStreamed
---| odin.ThinkingFinished
---| odin.StreamRolledBack
---| odin.MessageFinished
---| odin.ArgumentsStreamed
---| odin.ToolQueued
---| odin.ToolStarted
---| odin.ToolProgress
---| odin.ToolFinished
---| odin.BackgroundFinished
---| odin.TodosChanged
---| odin.ReviewOpened
---| odin.ReviewChanged
---| odin.ReviewClosed
---| odin.DiagnosticsCompared
---| odin.QuestionAsked
---| odin.QuestionAnswered
---| odin.UsageChanged
---| odin.SubagentStarted
---| odin.SubagentFinished
---| odin.Compacted
---| odin.ModelChanged
---| odin.RoleChanged
---| odin.ModelStatusChanged
---| odin.ServersChanged
---| odin.Notice
---| odin.TurnEdited
---| odin.TrustChanged
---| odin.SessionBegun
---| odin.SessionSwitchStarted
---| odin.SessionRestored
---| odin.SessionRenamed
---| odin.TurnFinished
---| odin.TurnUndone

return {
  events = {
    "turnQueued",
    "turnStarted",
    "userSpoke",
    "activityChanged",
    "requestStarted",
    "requestProgress",
    "textStreamed",
    "thinkingStarted",
    "thinkingStreamed",
    "thinkingFinished",
    "streamRolledBack",
    "messageFinished",
    "argumentsStreamed",
    "toolQueued",
    "toolStarted",
    "toolProgress",
    "toolFinished",
    "backgroundFinished",
    "todosChanged",
    "reviewOpened",
    "reviewChanged",
    "reviewClosed",
    "diagnosticsCompared",
    "questionAsked",
    "questionAnswered",
    "usageChanged",
    "subagentStarted",
    "subagentFinished",
    "compacted",
    "modelChanged",
    "roleChanged",
    "modelStatusChanged",
    "serversChanged",
    "notice",
    "turnEdited",
    "trustChanged",
    "sessionBegun",
    "sessionSwitchStarted",
    "sessionRestored",
    "sessionRenamed",
    "turnFinished",
    "turnUndone",
  },
  commands = {
    "odin.ask",
    "odin.plan",
    "odin.edit",
    "odin.init",
    "odin.executePlan",
    "odin.plan.mark",
    "odin.plan.refuse",
    "odin.prompt",
    "odin.send",
    "odin.begin",
    "odin.answer",
    "odin.cancel",
    "odin.continue",
    "odin.note",
    "odin.removeLast",
    "odin.compact",
    "odin.role",
    "odin.permissions",
    "odin.extensions",
    "odin.slashCommands",
    "odin.files",
    "odin.agent.call",
    "odin.clear",
    "odin.steer",
    "odin.queue",
    "odin.model",
    "odin.key.check",
    "odin.notices",
    "odin.brought",
    "odin.trust",
    "odin.state",
    "odin.review.accept",
    "odin.review.reject",
    "odin.review.reopen",
    "odin.review.list",
    "odin.undoTurn",
    "odin.mention",
    "odin.session.new",
    "odin.session.list",
    "odin.session.resume",
    "odin.session.events",
    "odin.session.attachment",
    "odin.session.fork",
    "odin.session.rename",
    "odin.session.export",
    "odin.session.delete",
    "odin.context",
    "odin.commentRequests",
    "odin.provenance",
    "odin.provenance.open",
  },
}
