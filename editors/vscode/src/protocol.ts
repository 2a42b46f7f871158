// Made by docs/generate.py from the server's code. Do not edit.

export interface AcceptParams {
  proposalId?: string;
  hunkIds?: string[];
  uri?: string;
  texts?: Partial<Record<string, string>>;
}

export interface AccountListing {
  provider: string;
  title: string;
  models?: AccountModel[];
  problem?: string;
}

export interface AccountModel {
  ref: string;
  title?: string;
  context?: number;
  maxOutput?: number;
}

export interface AgentCallParams {
  agent: string;
  tool: string;
  arguments: Partial<Record<string, unknown>>;
  conversation?: string;
  turnId?: string;
}

export interface AgentCalled {
  sessionId: string;
  turnId: string;
  text: string;
  failed: boolean;
  images?: AgentImage[];
}

export interface AgentImage {
  mediaType: string;
  data: string;
}

export interface Allowed {
  id: string;
  tool: string;
  pattern: string;
  mode: string;
  scope: "session" | "workspace" | "always";
  since: string;
}

export interface Answer {
  optionIds?: string[];
  text?: string;
  command?: string;
}

export interface AnswerParams {
  questionId: string;
  optionId: string;
}

export interface Answered {
  answered: boolean;
}

export interface Attached {
  digest: string;
  mediaType: string;
  name?: string;
  width?: number;
  height?: number;
}

export interface AttachmentData {
  data: string;
}

export interface AttachmentParams {
  digest: string;
  sessionId?: string;
}

export interface BeginParams {
  command: "odin.ask" | "odin.plan" | "odin.edit" | "odin.prompt" | "odin.send" | "odin.executePlan" | "odin.plan.refuse" | "odin.undoTurn" | "odin.provenance.open";
  argument: Partial<Record<string, unknown>>;
}

export interface Begun {
  begun: boolean;
}

export interface Brought {
  digest: string;
  items: BroughtItem[];
  text: string;
}

export interface BroughtItem {
  id: string;
  kind: "hook" | "server" | "languageServer" | "command" | "agent" | "skill" | "setting";
  name: string;
  what: string;
  program?: string;
  address?: string;
  variables?: string[];
  file: string;
  includes?: string[];
  state?: "new" | "changed" | "agreed" | "refused";
}

export type BroughtParams = Record<string, never>;

export interface CachedFile {
  filePath: string;
  size: number;
  isModified: boolean;
  cachedAt: number;
  isTruncated: boolean;
}

export interface CancelParams {
  turnId?: string;
  agentId?: string;
  only?: "compaction";
  drop?: boolean;
  queue?: "keep" | "next" | "return";
}

export interface Cancelled {
  cancelled: boolean;
  returned?: QueuedMessage[];
}

export interface CheckedKey {
  verdict: "accepted" | "refused" | "unknown";
  detail?: string;
}

export interface ClearParams {
  sessionId?: string;
}

export interface CommandRun {
  command: string;
  exitCode?: number;
  durationMs?: number;
  output?: string;
}

export interface CommentRequestsParams {
  kind: "edit" | "ask";
}

export interface CompactParams {
  sessionId?: string;
  focus?: string;
  turnId?: string;
}

export interface CompactResult {
  before: number;
  after: number;
}

export interface ContextInstructions {
  path: string;
  of: "user" | "project";
  tokens: number;
}

export interface ContextItem {
  kind: "selection" | "file" | "folder" | "diagnostics" | "command" | "text";
  content?: string;
  uri?: string;
  range?: Range;
  version?: number;
  sourceCommand?: string;
  name?: string;
}

export interface ContextParams {
  text?: string;
  mode?: "ask_mode" | "plan_mode" | "edit_mode";
  sessionId?: string;
  exact?: boolean;
}

export interface ContextPart {
  kind: "system" | "tool" | "message";
  name: string;
  tokens: number;
  content: string;
}

export interface ContextPreview {
  sessionId: string;
  mode: "ask_mode" | "plan_mode" | "edit_mode";
  model: string;
  tokens: number;
  counted?: number;
  notCounted?: string;
  contextLimit: number;
  costUsd: number;
  cachedCostUsd: number;
  switchedCostUsd: number;
  spent: Usage;
  parts: ContextPart[];
  instructions?: ContextInstructions[];
  files?: SeenFile[];
  servers?: ContextServer[];
}

export interface ContextServer {
  name: string;
  tools: number;
  listed: boolean;
  tokens: number;
}

export interface ContinueParams {
  sessionId?: string;
}

export interface Decision {
  hunkId: string;
  decision: "accept" | "reject" | "modify";
  text?: string;
  reason?: string;
}

export interface DeleteSessionParams {
  sessionId: string;
  confirm?: boolean;
}

export interface Deleted {
  sessionId: string;
}

export interface Diagnostic {
  uri: string;
  line: number;
  severity: "error" | "warning" | "information" | "hint";
  message: string;
  source?: string;
  code?: string;
}

export interface DocumentDiagnostics {
  uri: string;
  diagnostics: Partial<Record<string, unknown>>[];
  current: boolean;
  version?: number;
}

export interface EditorAnswer {
  server: string;
  ready: boolean;
  result?: unknown;
}

export interface EditorAnswers {
  answers: EditorAnswer[];
  late?: string[];
  failed?: EditorFailure[];
}

export interface EditorDiagnostics {
  items: DocumentDiagnostics[];
}

export interface EditorDiagnosticsParams {
  uris: string[];
  patienceMs: number;
}

export interface EditorFailure {
  server: string;
  reason: string;
}

export interface EditorRequest {
  method: string;
  uri: string;
  params: Partial<Record<string, unknown>>;
  timeoutMs: number;
}

export interface EventPage {
  events: EventRecord[];
  earlierTurns: number;
  before?: number;
  seq?: number;
}

export interface EventRecord {
  seq: number;
  turnId: string;
  sessionId: string;
  agentId: string;
  event: Event;
  at?: number;
  messageId?: string;
}

export interface ExecutePlanParams {
  uri: string;
  steps?: number[];
  turnId?: string;
}

export interface ExportSessionParams {
  sessionId?: string;
  format?: "markdown" | "html" | "json";
  path?: string;
}

export interface Exported {
  sessionId: string;
  uri: string;
}

export interface ExtensionList {
  extensions: Listed[];
}

export interface ExtensionsParams {
  action?: "list" | "enable" | "disable";
  name?: string;
  names?: string[];
  kind?: "agent" | "skill" | "command" | "hook" | "mcp" | "file";
}

export type FilesParams = Record<string, never>;

export interface ForkSessionParams {
  sessionId?: string;
  message?: number;
}

export interface FoundFiles {
  files: string[];
}

export interface FoundRequest {
  uri: string;
  range: Range;
  kind: "edit" | "ask";
  text: string;
}

export interface FoundRequests {
  requests: FoundRequest[];
  text: string;
}

export interface FoundServer {
  name: string;
  url: string;
  models: string[];
}

export interface ImageItem {
  data?: string;
  uri?: string;
  digest?: string;
  name?: string;
  mediaType?: string;
}

export interface InitOptions {
  settings?: Partial<Record<string, unknown>>;
  secrets?: Partial<Record<"anthropic" | "google" | "openai", string>>;
  trusted?: boolean;
}

export interface InitParams {
  turnId?: string;
}

export interface InstructionFile {
  path: string;
  size: number;
  isCut: boolean;
}

export interface KeptFile {
  uri: string;
  reason: string;
  hunkIds?: string[];
}

export interface KeyCheckParams {
  provider: "anthropic" | "google" | "openai";
  key: string;
}

export interface LineSpan {
  first: number;
  last: number;
}

export interface ListSessionsParams {
  query?: string;
  limit?: number;
}

export interface Listed {
  kind: "agent" | "skill" | "command" | "hook" | "mcp" | "file";
  name: string;
  source: string;
  owner: "user" | "project";
  state: "on" | "off" | "untrusted" | "hidden" | "broken";
  tokens?: number;
  description?: string;
  problem?: string;
  running?: "configured" | "starting" | "ready" | "retrying" | "failed" | "disabled";
  attempt?: number;
  maxAttempts?: number;
}

export interface MarkStepParams {
  uri: string;
  step: number;
  status: "open" | "done" | "skipped";
}

export interface McpState {
  name: string;
  transport: "stdio" | "http" | "sse";
  state: "configured" | "starting" | "ready" | "retrying" | "failed" | "disabled";
  attempt?: number;
  maxAttempts?: number;
  tools?: number;
  tokens?: number;
  memory?: number;
  problem?: string;
}

export interface Mentioned {
  agents: number;
}

export interface MessageParams {
  text: string;
  typed?: boolean;
  turnId?: string;
  sessionId?: string;
  context?: ContextItem[];
  images?: ImageItem[];
  temperature?: number;
  maxTokens?: number;
  options?: TurnOptions;
}

export interface ModelFacts {
  context: number;
  inputUsd: number;
  outputUsd: number;
}

export interface ModelParams {
  model?: string;
  smallModel?: string;
  sessionId?: string;
  findLocal?: boolean;
  askAccounts?: "beside" | "wait" | "anew";
}

export interface ModelState {
  model: string;
  smallModel: string;
  running: string;
  available: string[];
  efforts?: Partial<Record<string, ("low" | "medium" | "high")[]>>;
  picked?: boolean;
  smallPicked?: boolean;
  facts?: Partial<Record<string, ModelFacts>>;
  local?: FoundServer[];
  accounts?: AccountListing[];
}

export interface ModelStatus {
  selected: string;
  running: string;
  keysReady: number;
  keys: number;
  nextKeyIn: number;
  contextLimit: number;
  outputLimit: number;
  rateLimit?: RateLimit;
  proxied?: boolean;
}

export interface NewSessionParams {
  title?: string;
}

export interface NoteParams {
  text: string;
  sessionId?: string;
}

export interface Noted {
  noted: boolean;
}

export interface Notices {
  notices: OpeningNotice[];
}

export type NoticesParams = Record<string, never>;

export interface OpenTurnParams {
  sessionId: string;
  turnId: string;
}

export interface OpenedTurn {
  uri: string;
  line: number;
}

export interface OpeningNotice {
  level: "info" | "warning" | "error";
  message: string;
}

export interface Option {
  id: string;
  label: string;
  description?: string;
}

export interface Outcome {
  turnId: string;
  sessionId: string;
  mode: "ask_mode" | "plan_mode" | "edit_mode";
  reason: "end_turn" | "max_turns" | "max_budget" | "max_tokens" | "refused" | "loop" | "interrupted" | "aborted" | "failed";
  answer: string;
  detail?: string;
  problem?: Problem;
  plan?: string;
  todos?: Todo[];
  tools?: ToolRecord[];
  receipts?: Receipt[];
  diagnostics?: Diagnostic[];
  usage?: Usage;
  durationMs?: number;
  modelMs?: number;
  steps?: number;
}

export interface Permissions {
  allowed: Allowed[];
}

export interface PermissionsParams {
  action?: "list" | "remove";
  id?: string;
  sessionId?: string;
}

export interface PlanStep {
  title: string;
  status: "open" | "done" | "skipped";
}

export interface PlanSteps {
  steps: PlanStep[];
}

export interface Position {
  line: number;
  character: number;
}

export interface Problem {
  kind: "key" | "limited" | "unavailable" | "too_long" | "model" | "session" | "request" | "internal";
  provider?: string;
  retryAfter?: number;
}

export interface PromptParams {
  mode: "ask" | "plan" | "edit";
  context?: ContextItem[];
  turnId?: string;
}

export interface Proposals {
  proposals: Review[];
}

export interface ProvenanceParams {
  uri: string;
}

export interface Question {
  questionId: string;
  kind: "permission" | "outside" | "trust" | "review" | "question";
  header?: string;
  title: string;
  detail?: string;
  command?: string;
  cwd?: string;
  paths?: string[];
  options?: Option[];
  default?: string;
  multiple?: boolean;
  allowText?: boolean;
  editable?: boolean;
  timeoutMs?: number;
  items?: BroughtItem[];
}

export interface Queue {
  queue: QueuedMessage[];
}

export interface QueueParams {
  action: "list" | "edit" | "remove" | "clear" | "resume";
  turnId?: string;
  text?: string;
  mode?: "ask_mode" | "plan_mode" | "edit_mode";
  context?: ContextItem[];
  images?: ImageItem[];
}

export interface QueuedMessage {
  turnId: string;
  body: string;
  mode: "ask_mode" | "plan_mode" | "edit_mode";
  timestamp: number;
  context?: ContextItem[];
  attached?: Attached[];
  options?: TurnOptions;
}

export interface Range {
  start: Position;
  end: Position;
}

export interface RateLimit {
  requestsLimit?: number;
  requestsLeft?: number;
  tokensLimit?: number;
  tokensLeft?: number;
  resetsIn?: number;
}

export interface Receipt {
  hunkId: string;
  uri: string;
  state: "pending" | "accepted" | "rejected" | "modified" | "superseded";
  text?: string;
  reason?: string;
  cause?: "person" | "typed" | "gone" | "not_applied" | "not_shown" | "cancelled" | "late";
}

export interface Receipts {
  receipts: Receipt[];
}

export interface RefusePlanParams {
  uri: string;
  reason?: string;
  turnId?: string;
}

export interface RejectParams {
  proposalId?: string;
  hunkIds?: string[];
  uri?: string;
  reason?: string;
}

export interface RemoveLastParams {
  sessionId?: string;
}

export interface Removed {
  removed: boolean;
}

export interface RenameSessionParams {
  title: string;
  sessionId?: string;
}

export interface ReopenParams {
  proposalId?: string;
  hunkIds?: string[];
  uri?: string;
}

export interface ResumeSessionParams {
  sessionId?: string;
}

export interface Retry {
  attempt: number;
  attempts: number;
  wait: number;
  reason: string;
}

export interface Review {
  proposalId: string;
  turnId: string;
  reason: string;
  files: ReviewFile[];
  sessionId?: string;
  atomic?: boolean;
  origin?: string;
}

export interface ReviewAnswer {
  decisions?: Decision[];
  restOfTurn?: "accept";
}

export interface ReviewFile {
  uri: string;
  version?: number;
  operation: "edit" | "create" | "delete" | "rename";
  newUri?: string;
  baseHash: string;
  proposedText: string;
  hunks: ReviewHunk[];
  note?: string;
}

export interface ReviewHunk {
  id: string;
  range: Range;
  oldText: string;
  newText: string;
  reason: string;
  state?: "pending" | "accepted" | "rejected" | "modified" | "superseded";
  text?: string;
}

export type ReviewListParams = Record<string, never>;

export interface ReviewedFile {
  uri: string;
  accepted: number;
  rejected: number;
}

export interface RoleChoice {
  name: string;
  description: string;
  models: string[];
}

export interface RoleParams {
  role?: string;
}

export interface RoleState {
  role: string;
  roles: RoleChoice[];
}

export interface SeenFile {
  path: string;
  at: number;
  seen: Stretch[];
  isWhole: boolean;
  isCurrent: boolean;
  changed?: LineSpan[];
}

export interface SelectionParams {
  uri: string;
  range: Range;
}

export interface SendParams {
  uri: string;
  turnId?: string;
}

export interface SentContext {
  kind: "selection" | "file" | "folder" | "diagnostics" | "command" | "text";
  uri?: string;
  name?: string;
  firstLine?: number;
  lastLine?: number;
}

export interface ServerInfo {
  version: number;
  server: string;
  model: string;
  smallModel: string;
  modes: string[];
  tools: string[];
  roots?: string[];
  skills?: string[];
  resident?: boolean;
}

export interface ServerState {
  name: string;
  root: string;
  state: "starting" | "loading" | "ready" | "stopped" | "given up";
  owner?: "odin" | "editor";
  errors?: number;
  warnings?: number;
  memory?: number;
  problem?: string;
}

export interface SessionEventsParams {
  sessionId?: string;
  before?: number;
  limit?: number;
}

export interface SessionSummary {
  sessionId: string;
  title: string;
  createdAt: number;
  updatedAt: number;
  messages: number;
  firstMessage: string;
  forkedFrom?: string;
  isCompacted?: boolean;
  locked: boolean;
  uri: string;
  excerpt?: string;
  draft?: string;
}

export interface Sessions {
  sessions: SessionSummary[];
}

export interface SlashCommand {
  name: string;
  kind: "builtin" | "command" | "skill" | "prompt";
  description: string;
  hint?: string;
  how?: "answer" | "says" | "mode" | "session" | "person";
  command?: string;
  source?: string;
}

export interface SlashCommands {
  commands: SlashCommand[];
}

export type SlashCommandsParams = Record<string, never>;

export interface State {
  sessionId: string;
  mode: "ask_mode" | "plan_mode" | "edit_mode";
  messages: TurnRecord[];
  earlierMessages: number;
  queue: QueuedMessage[];
  unbegun: QueuedMessage[];
  suspended: boolean;
  executing: boolean;
  compacting: boolean;
  updates: string[];
  subagents: SubagentRecord[];
  earlierSubagents: SubagentRecord[];
  todos: Todo[];
  usage: Usage;
  context: string[];
  instructions: string;
  instructionFiles: InstructionFile[];
  config: Partial<Record<string, unknown>>;
  cache: CachedFile[];
  cacheConfig: Partial<Record<string, unknown>>;
  models: ModelStatus[];
  languageServers: ServerState[];
  mcpServers: McpState[];
}

export interface StateParams {
  sessionId?: string;
}

export interface SteerParams {
  text: string;
  turnId?: string;
  agentId?: string;
  context?: ContextItem[];
}

export interface Steered {
  taken: boolean;
}

export interface Stretch {
  first: number;
  last: number;
  digest: string;
}

export interface SubagentRecord {
  agentId: string;
  turnId: string;
  callId: string;
  description: string;
  prompt?: string;
  agent?: string;
  mode: "ask_mode" | "plan_mode" | "edit_mode";
  model: string;
  writeScope?: string[];
  status: "running" | "completed" | "stopped" | "failed" | "cancelled";
  summary?: string;
  filesChanged?: string[];
  verificationRun?: string[];
  remainingLimitations?: string[];
  knownRisks?: string[];
  followUpRecommended?: string[];
  artifacts?: string[];
  todos?: Todo[];
  steps?: number;
  usage?: Usage;
  startedAt: number;
  endedAt?: number;
}

export interface Terms {
  version: string;
  environment?: Partial<Record<string, string>>;
  settings?: Partial<Record<string, unknown>>;
}

export interface Todo {
  id: string;
  content: string;
  status: "pending" | "in_progress" | "completed";
}

export interface ToolRecord {
  name: string;
  description: string;
  affectedFiles: string[];
  status: "success" | "error" | "cancelled";
  added?: number;
  removed?: number;
  created?: boolean;
  ran?: CommandRun;
}

export interface TrustParams {
  decision: "trust" | "restrict" | "ask";
  digest?: string;
  items?: string[];
}

export interface Trusted {
  trusted: boolean;
}

export interface TurnOptions {
  defaultAnswer?: string;
  mayCompact?: boolean;
  showsAnswer?: boolean;
}

export interface TurnRecord {
  turnId: string;
  body: string;
  mode: "ask_mode" | "plan_mode" | "edit_mode";
  timestamp: number;
  answerSummary: string;
  reason: "end_turn" | "max_turns" | "max_budget" | "max_tokens" | "refused" | "loop" | "interrupted" | "aborted" | "failed";
  todos: Todo[];
  toolHistory: ToolRecord[];
  usage: Usage;
  reviewed?: ReviewedFile[];
}

export interface UndoParams {
  turnId?: string;
  uri?: string;
  hunkIds?: string[];
}

export interface Undone {
  restored: string[];
  kept: KeptFile[];
  undoId?: string;
}

export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  costUsd?: number;
  contextTokens?: number;
  contextLimit?: number;
}

export interface WrittenRange {
  range: Range;
  turnId: string;
  sessionId: string;
  hunkId: string;
  model: string;
  origin: string;
  at: number;
  state: "accepted" | "modified";
}

export interface WrittenRanges {
  ranges: WrittenRange[];
}

export interface TurnQueued {
  position: number;
  kind: "turnQueued";
}

export interface TurnStarted {
  mode: "ask_mode" | "plan_mode" | "edit_mode";
  model: string;
  text?: string;
  attached?: Attached[];
  context?: SentContext[];
  kind: "turnStarted";
}

export interface UserSpoke {
  text: string;
  kind: "userSpoke";
}

export interface ActivityChanged {
  activity: "idle" | "connecting" | "waiting_headers" | "waiting_token" | "streaming" | "executing" | "compacting" | "retrying" | "retrying_key" | "cooling" | "verifying";
  detail?: string;
  retry?: Retry;
  kind: "activityChanged";
}

export interface RequestStarted {
  step: number;
  attempt: number;
  kind: "requestStarted";
}

export interface RequestProgress {
  bytes: number;
  events: number;
  kind: "requestProgress";
}

export interface TextStreamed {
  text: string;
  kind: "textStreamed";
}

export interface ThinkingStarted {
  kind: "thinkingStarted";
}

export interface ThinkingStreamed {
  text: string;
  kind: "thinkingStreamed";
}

export interface ThinkingFinished {
  elapsedMs: number;
  kind: "thinkingFinished";
}

export interface StreamRolledBack {
  kind: "streamRolledBack";
}

export interface MessageFinished {
  text: string;
  toolCalls: number;
  thinking?: string;
  thinkingMs?: number;
  kind: "messageFinished";
}

export interface ArgumentsStreamed {
  callId: string;
  name: string;
  text: string;
  kind: "argumentsStreamed";
}

export interface ToolQueued {
  callId: string;
  name: string;
  description: string;
  kind: "toolQueued";
}

export interface ToolStarted {
  callId: string;
  name: string;
  arguments: Partial<Record<string, unknown>>;
  description: string;
  kind: "toolStarted";
}

export interface ToolProgress {
  callId: string;
  text: string;
  elapsedMs?: number;
  kind: "toolProgress";
}

export interface ToolFinished {
  callId: string;
  name: string;
  status: "success" | "error" | "cancelled";
  description: string;
  files?: string[];
  added?: number;
  removed?: number;
  created?: boolean;
  diff?: string;
  output?: string;
  durationMs?: number;
  ran?: CommandRun;
  result?: string;
  audit?: "rules" | "user" | "edited" | "hook";
  kind: "toolFinished";
}

export interface BackgroundFinished {
  callId: string;
  backgroundId: string;
  command: string;
  description: string;
  status: "exited" | "stopped" | "failed";
  message: string;
  log: string;
  output?: string;
  exitCode?: number;
  durationMs?: number;
  kind: "backgroundFinished";
}

export interface TodosChanged {
  todos: Todo[];
  kind: "todosChanged";
}

export interface ReviewOpened {
  proposal: Review;
  kind: "reviewOpened";
}

export interface ReviewChanged {
  proposalId: string;
  hunks: ReviewHunk[];
  versions?: Partial<Record<string, number>>;
  kind: "reviewChanged";
}

export interface ReviewClosed {
  proposalId: string;
  receipts: Receipt[];
  kind: "reviewClosed";
}

export interface DiagnosticsCompared {
  introduced?: Diagnostic[];
  fixed?: Diagnostic[];
  remaining?: number;
  unsure?: Diagnostic[];
  leftOff?: number;
  unknown?: string[];
  kind: "diagnosticsCompared";
}

export interface QuestionAsked {
  question: Question;
  kind: "questionAsked";
}

export interface QuestionAnswered {
  questionId: string;
  answer?: Answer;
  kind: "questionAnswered";
}

export interface UsageChanged {
  usage: Usage;
  kind: "usageChanged";
}

export interface SubagentStarted {
  agentId: string;
  description: string;
  mode: "ask_mode" | "plan_mode" | "edit_mode";
  kind: "subagentStarted";
}

export interface SubagentFinished {
  agentId: string;
  status: "completed" | "stopped" | "failed" | "cancelled";
  summary: string;
  kind: "subagentFinished";
}

export interface Compacted {
  status: "started" | "succeeded" | "failed" | "cancelled";
  before: number;
  after: number;
  inBackground?: boolean;
  kind: "compacted";
}

export interface ModelChanged {
  selected: string;
  running: string;
  kind: "modelChanged";
}

export interface RoleChanged {
  role: string;
  kind: "roleChanged";
}

export interface ModelStatusChanged {
  status: ModelStatus;
  kind: "modelStatusChanged";
}

export interface ServersChanged {
  mcpServers?: McpState[];
  languageServers?: ServerState[];
  kind: "serversChanged";
}

export interface Notice {
  level: "info" | "warning" | "error";
  message: string;
  kind: "notice";
}

export interface TurnEdited {
  mode: "ask_mode" | "plan_mode" | "edit_mode";
  text: string;
  attached?: Attached[];
  context?: SentContext[];
  kind: "turnEdited";
}

export interface TrustChanged {
  trusted: boolean;
  kind: "trustChanged";
}

export interface SessionBegun {
  sessionId: string;
  title: string;
  how?: "new" | "resume" | "fork";
  kind: "sessionBegun";
}

export interface SessionSwitchStarted {
  sessionId: string;
  how?: "new" | "resume" | "fork";
  kind: "sessionSwitchStarted";
}

export interface SessionRestored {
  sessionId: string;
  title: string;
  messages: number;
  how?: "new" | "resume" | "fork";
  kind: "sessionRestored";
}

export interface SessionRenamed {
  title: string;
  kind: "sessionRenamed";
}

export interface TurnFinished {
  outcome: Outcome;
  kind: "turnFinished";
}

export interface TurnUndone {
  restored: string[];
  kept?: KeptFile[];
  undoId?: string;
  again?: boolean;
  kind: "turnUndone";
}

export type Event =
  | TurnQueued
  | TurnStarted
  | UserSpoke
  | ActivityChanged
  | RequestStarted
  | RequestProgress
  | TextStreamed
  | ThinkingStarted
  | ThinkingStreamed
  | ThinkingFinished
  | StreamRolledBack
  | MessageFinished
  | ArgumentsStreamed
  | ToolQueued
  | ToolStarted
  | ToolProgress
  | ToolFinished
  | BackgroundFinished
  | TodosChanged
  | ReviewOpened
  | ReviewChanged
  | ReviewClosed
  | DiagnosticsCompared
  | QuestionAsked
  | QuestionAnswered
  | UsageChanged
  | SubagentStarted
  | SubagentFinished
  | Compacted
  | ModelChanged
  | RoleChanged
  | ModelStatusChanged
  | ServersChanged
  | Notice
  | TurnEdited
  | TrustChanged
  | SessionBegun
  | SessionSwitchStarted
  | SessionRestored
  | SessionRenamed
  | TurnFinished
  | TurnUndone;

export interface Commands {
  "odin.ask": { argument: MessageParams; result: Outcome };
  "odin.plan": { argument: MessageParams; result: Outcome };
  "odin.edit": { argument: MessageParams; result: Outcome };
  "odin.init": { argument: InitParams; result: Outcome };
  "odin.executePlan": { argument: ExecutePlanParams; result: Outcome };
  "odin.plan.mark": { argument: MarkStepParams; result: PlanSteps };
  "odin.plan.refuse": { argument: RefusePlanParams; result: Outcome };
  "odin.prompt": { argument: PromptParams; result: Outcome };
  "odin.send": { argument: SendParams; result: Outcome };
  "odin.begin": { argument: BeginParams; result: Begun };
  "odin.answer": { argument: AnswerParams; result: Answered };
  "odin.cancel": { argument: CancelParams; result: Cancelled };
  "odin.continue": { argument: ContinueParams; result: Outcome };
  "odin.note": { argument: NoteParams; result: Noted };
  "odin.removeLast": { argument: RemoveLastParams; result: Removed };
  "odin.compact": { argument: CompactParams; result: CompactResult };
  "odin.role": { argument: RoleParams; result: RoleState };
  "odin.permissions": { argument: PermissionsParams; result: Permissions };
  "odin.extensions": { argument: ExtensionsParams; result: ExtensionList };
  "odin.slashCommands": { argument: SlashCommandsParams; result: SlashCommands };
  "odin.files": { argument: FilesParams; result: FoundFiles };
  "odin.agent.call": { argument: AgentCallParams; result: AgentCalled };
  "odin.clear": { argument: ClearParams; result: SessionSummary };
  "odin.steer": { argument: SteerParams; result: Steered };
  "odin.queue": { argument: QueueParams; result: Queue };
  "odin.model": { argument: ModelParams; result: ModelState };
  "odin.key.check": { argument: KeyCheckParams; result: CheckedKey };
  "odin.notices": { argument: NoticesParams; result: Notices };
  "odin.brought": { argument: BroughtParams; result: Brought };
  "odin.trust": { argument: TrustParams; result: Trusted };
  "odin.state": { argument: StateParams; result: State };
  "odin.review.accept": { argument: AcceptParams; result: Receipts };
  "odin.review.reject": { argument: RejectParams; result: Receipts };
  "odin.review.reopen": { argument: ReopenParams; result: Receipts };
  "odin.review.list": { argument: ReviewListParams; result: Proposals };
  "odin.undoTurn": { argument: UndoParams; result: Undone };
  "odin.mention": { argument: SelectionParams; result: Mentioned };
  "odin.session.new": { argument: NewSessionParams; result: SessionSummary };
  "odin.session.list": { argument: ListSessionsParams; result: Sessions };
  "odin.session.resume": { argument: ResumeSessionParams; result: SessionSummary };
  "odin.session.events": { argument: SessionEventsParams; result: EventPage };
  "odin.session.attachment": { argument: AttachmentParams; result: AttachmentData };
  "odin.session.fork": { argument: ForkSessionParams; result: SessionSummary };
  "odin.session.rename": { argument: RenameSessionParams; result: SessionSummary };
  "odin.session.export": { argument: ExportSessionParams; result: Exported };
  "odin.session.delete": { argument: DeleteSessionParams; result: Deleted };
  "odin.context": { argument: ContextParams; result: ContextPreview };
  "odin.commentRequests": { argument: CommentRequestsParams; result: FoundRequests };
  "odin.provenance": { argument: ProvenanceParams; result: WrittenRanges };
  "odin.provenance.open": { argument: OpenTurnParams; result: OpenedTurn };
}
