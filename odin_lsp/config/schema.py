"""What can be set, with its defaults: the shape of `odinconfig.json`."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr

from odin_lsp.config.rules import CommandWords, FileRules, RuleSettings
from odin_lsp.config.section import Section
from odin_lsp.values import json_schema


class Limits(Section):
    max_turns: int = Field(default=100, ge=0)
    """How many steps a turn may take; 0 is unlimited."""
    max_budget_usd: float = Field(default=0.0, ge=0)
    """How many dollars a turn may cost, with its subagents; 0 is unlimited."""
    max_context: int = Field(default=0, ge=0)
    """How many tokens a request may have; 0: as many as the model's window."""
    max_tokens: int = Field(default=8192, ge=1)
    """How many tokens the model may write in one step."""
    max_retries: int = Field(default=60, ge=0)
    """How many failed requests of a turn and its subagents are made again; 0 is unlimited."""


class Timeouts(Section):
    client: float = Field(default=10.0, gt=0)
    """Seconds that Odin waits for what the editor answers by itself."""
    person: float | None = Field(default=None, gt=0)
    """Seconds that Odin waits for your decision; then the answer is no. Without it: as long as it takes."""
    idle: float = Field(default=300.0, gt=0)
    """Seconds of silence after which a model's stream counts as cut off."""


class Network(Section):
    proxy: str | None = None
    """URL of an HTTP proxy; without it `HTTPS_PROXY` and similar variables are used."""
    ca_bundle: str | None = None
    """PEM file of the certificate authorities to trust; without it `SSL_CERT_FILE` is used."""
    client_certificate: str | None = None
    """PEM file of the certificate by which Odin shows a model's server who it is. Its key may be in it, too."""
    client_key: str | None = None
    """PEM file of that certificate's key, without a password."""


class BedrockSettings(Section):
    region: str | None = None
    """The AWS region. Without it: `AWS_REGION`, or that of the profile."""
    profile: str | None = None
    """The AWS profile. Without it: `AWS_PROFILE`, or wherever else tools for AWS find credentials."""


class VertexSettings(Section):
    project: str | None = None
    """The project of Google Cloud. Without it: `ANTHROPIC_VERTEX_PROJECT_ID`, `GOOGLE_CLOUD_PROJECT`, or that of the
    credentials."""
    region: str | None = None
    """The location. Without it: `CLOUD_ML_REGION`, `GOOGLE_CLOUD_LOCATION`, or `global`."""


class FoundrySettings(Section):
    resource: str | None = None
    """The resource, as in `https://RESOURCE.services.ai.azure.com`. Without it: `ANTHROPIC_FOUNDRY_RESOURCE`, or the
    address in `ANTHROPIC_FOUNDRY_BASE_URL`."""


class PlatformSettings(Section):
    """Only your own settings count."""

    bedrock: BedrockSettings = Field(default_factory=BedrockSettings.model_construct)
    vertex: VertexSettings = Field(default_factory=VertexSettings.model_construct)
    foundry: FoundrySettings = Field(default_factory=FoundrySettings.model_construct)


class WebSettings(Section):
    private_hosts: tuple[str, ...] = ()
    """Hosts that may have private addresses, such as `localhost:8000` or `wiki.example.org`."""
    timeout: float = Field(default=30.0, gt=0, le=300)
    """Seconds that fetching a page may take, with all its redirects."""
    max_bytes: int = Field(default=10 * 1024 * 1024, ge=1024, le=100 * 1024 * 1024)
    """How many bytes of a page are read, packed or unpacked; the rest is left out."""


class SearchSettings(Section):
    provider: Literal["brave", "duckduckgo", "searxng"] | None = None
    """The service that `WebSearch` asks; without one the model has no such tool."""
    key: str = "BRAVE_API_KEY"
    """The environment variable with the API key for `brave`."""
    url: str | None = None
    """Where the service is, if not at its usual address. `searxng` needs it: `https://search.example.org`."""


class Retries(Section):
    attempts: int = Field(default=6, ge=1, le=20)
    """How often one request is tried, over all keys and models together."""
    longest_wait: float = Field(default=60.0, ge=0)
    """Seconds that Odin waits at most if a provider asks for it; else the next model takes over."""


class CacheSettings(Section):
    max_cache_size: int = Field(default=100 * 1024 * 1024, ge=0)
    """How many bytes of files Odin keeps in memory."""
    max_file_size: int = Field(default=10 * 1024 * 1024, ge=0)
    """How large a file may be, in bytes, to be kept whole; of larger ones only parts are kept."""
    max_entries: int = Field(default=500, ge=1)
    """How many files Odin keeps in memory."""
    max_segments: int = Field(default=50, ge=1)
    """How many parts of one file Odin keeps in memory."""
    eviction_policy: Literal["lru", "lfu", "hybrid"] = "hybrid"
    """What is dropped first: the least recent, the least frequent, or the least recent that was not modified."""
    ttl: float = Field(default=0.0, ge=0)
    """Seconds after which a file is read again in any case; 0 is never."""
    auto_refresh: bool = True
    """Whether Odin compares a file with the disk at each read; otherwise only after a sign that it has changed."""


class ReviewSettings(Section):
    policy: Literal["each", "end", "auto"] = "each"
    """When you review edits: `each` step, once at the `end` of a turn, or never (`auto`; `odin.undoTurn` undoes a
    turn). Protected files always need your approval."""
    save: Literal["touched", "ask", "never"] = "touched"
    """Whether the documents that Odin has changed are saved, before a command runs and at the end of a turn."""
    undo_days: int = Field(default=30, ge=0)
    """For how many days you can undo a turn (`odin.undoTurn`)."""
    undo_bytes: int = Field(default=256 * 1024 * 1024, ge=0)
    """Bytes that are kept for that, of all turns together: the oldest go first. What would be more by itself is changed
    without a way back, which its review says."""


class DiagnosticsSettings(Section):
    wait: float = Field(default=3.0, ge=0, le=60)
    """Seconds for which the model waits, after its edits are made, for what language servers say about them. Later ones
    are told at its next step. 0: nothing is compared, and nothing is told."""


class CommandSettings(Section):
    timeout: float = Field(default=120.0, gt=0, le=600)
    """Seconds after which a command is stopped, unless the model asks for another time; 600 at most."""
    network: bool = False
    """Whether a command in the sandbox may use the network."""
    environment: tuple[str, ...] = ()
    """Variables that commands get although they look like secrets, such as `SSH_AUTH_SOCK`."""


CallFormat = Literal["hermes", "qwen", "mistral", "llama", "deepseek"]


class ModelSettings(Section):
    written_calls: tuple[CallFormat, ...] = ()
    """How it writes calls into its text or thinking, if its server does not read them: `hermes` is JSON in
    `<tool_call>`, `qwen` is `<function=…>` in `<tool_call>`. Without it, text is text."""


class ToolSettings(Section):
    disabled: tuple[str, ...] = ()
    """Tools that no model is offered, by their names."""
    disabled_in: Mapping[str, tuple[str, ...]] = {}
    """The same by mode (`ask`, `plan`, `edit`) or by role: `helper` for all subagents, or the name of one."""

    def off(self, *places: str) -> frozenset[str]:
        """What is disabled in these modes and roles."""
        return frozenset([*self.disabled, *(name for place in places for name in self.disabled_in.get(place, ()))])


class ExtensionSettings(Section):
    disabled: tuple[str, ...] = ()
    """Agents, skills, commands, hooks and MCP servers that are not used: a name, or `kind:name`."""
    sandbox_hooks: bool = False
    """Whether hooks can change nothing but the workspace and temporary files. `commands.network` says whether they may
    use the network then."""


class McpSettings(Section):
    timeout: float = Field(default=60.0, gt=0, le=600)
    """Seconds that Odin waits for an answer of an MCP server, unless its own entry says otherwise."""
    wait: float = Field(default=3.0, ge=0, le=60)
    """Seconds for which the first turn waits for servers whose tools are not known yet. What comes later can be found
    with FindTool."""
    idle: float = Field(default=600.0, gt=0)
    """Seconds after which a server that nobody calls is stopped."""
    share: float = Field(default=0.05, ge=0, le=1)
    """How much of the model's window definitions of tools may take. Those beyond are not listed; the model finds them
    with FindTool."""
    variables: Mapping[str, tuple[str, ...]] = {}
    """Keys that an MCP server of a project may have, by the id that `odin-lsp mcp list` shows: names of variables that
    `${NAME}` in its entry stands for. Without one of them its default counts. Only your own settings count."""


class PublishSettings(Section):
    redis: str | None = None
    """Where events are added to a stream: `redis://…`, `rediss://…` or `unix://…`. Without it: nowhere."""
    stream: str = Field(default="odin:events", min_length=1)
    """The stream's name."""
    content: bool = False
    """Whether prompts, answers, names and texts of files are published too; what looks like a secret never is."""


class SubagentSettings(Section):
    at_once: int = Field(default=8, ge=1, le=32)
    """How many subagents work at the same time."""
    per_turn: int = Field(default=24, ge=0, le=200)
    """How many subagents a turn may start."""


class ServerSettings(Section):
    enabled: bool = True
    """Whether Odin uses this server."""
    command: tuple[str, ...] = ()
    """The program, by its name or its absolute path, and its arguments. Without it: as Odin knows it."""
    languages: Mapping[str, str] = {}
    """What it is for: names of languages by the suffixes of files, such as `{".zig": "zig"}`. Without it: as Odin knows
    it."""
    options: Mapping[str, Any] = {}
    """The `initializationOptions` of the server."""
    settings: Mapping[str, Any] = {}
    """What it gets when it asks for settings, by their sections, such as `{"python.analysis": {…}}`."""
    _agreed_as: str = PrivateAttr(default="")

    @property
    def agreed_as(self) -> str:
        """Of a workspace's: the id of what the user has agreed to."""
        return self._agreed_as

    def as_agreed(self, agreed_as: str) -> "ServerSettings":
        server = self.model_copy()
        server._agreed_as = agreed_as
        return server


class LanguageServerSettings(Section):
    enabled: bool = True
    """Whether Odin starts language servers where the editor lends none."""
    servers: Mapping[str, ServerSettings] = {}
    """Other servers than those that Odin knows, and changes to these, by name."""
    timeout: float = Field(default=15.0, gt=0, le=120)
    """Seconds for one question, in which a server may still be reading the project."""
    idle: float = Field(default=600.0, gt=0)
    """Seconds after which a server that nobody asks is stopped."""


class HostSettings(Section):
    idle: float = Field(default=900.0, ge=0)
    """Seconds after which the Odin that a terminal has started for a workspace ends, if nobody uses it. 0: a terminal
    starts none. Only your own settings count."""


class RoleSettings(Section):
    description: str = ""
    """What the role is for, in a few words."""
    prompt: str = ""
    """What the model is told about its part, before each of your messages."""
    models: tuple[str, ...] = ()
    """The model, and after it those to try in this order if it cannot be reached. Empty: as without a role."""
    disabled_tools: tuple[str, ...] = ()
    """Tools that the model is not offered in this role, by their names."""
    rules: tuple[RuleSettings, ...] = ()
    """Rules that apply in this role, after those of `rules`."""


class Config(Section):
    model: str | None = None
    """The main model, as `provider/model[@effort]`. Default: that of the first provider with a key, else
    `offline/odin`."""
    small_model: str | None = None
    """The model for everything else: titles, summaries, digests."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """How freely the model chooses its words. Without it: the model's own. Models that think take none."""
    memory: bool = True
    """Whether Odin takes notes on a workspace, and begins sessions with them."""
    memory_in_ask: bool = False
    """Whether Ask may take and drop notes too; otherwise it only reads them."""
    titles: bool = True
    """Whether the small model names each session; otherwise it has the first words of your first message."""
    provenance: bool = True
    """Whether hovering over a line that Odin wrote shows the turn that wrote it."""
    comment_requests: bool = True
    """Whether comments that end in `odin!` or `AI!` offer to do what they say, and those with `?` to answer it."""
    log_level: Literal["error", "warning", "info", "debug"] | None = None
    """What Odin writes to its log, stderr. Without it: `warning`, in a terminal `error`."""
    fallback_models: tuple[str, ...] = ()
    """Models to try in this order when `model` cannot be reached."""
    models: Mapping[str, ModelSettings] = {}
    """What Odin should know of a model, by `provider/model`."""
    keys: Mapping[Literal["anthropic", "google", "openai"], tuple[str, ...]] = {}
    """Names of environment variables with the API keys of a provider, in the order to use them."""
    key_helpers: Mapping[Literal["anthropic", "google", "openai"], tuple[Annotated[str, Field(min_length=1)], ...]] = {}
    """Programs that print the API key of a provider, each with its arguments, for when no other key is left. No shell
    reads them. Only your own settings count."""
    platforms: PlatformSettings = Field(default_factory=PlatformSettings.model_construct)
    network: Network = Field(default_factory=Network.model_construct)
    web: WebSettings = Field(default_factory=WebSettings.model_construct)
    web_search: SearchSettings = Field(default_factory=SearchSettings.model_construct)
    limits: Limits = Field(default_factory=Limits.model_construct)
    timeouts: Timeouts = Field(default_factory=Timeouts.model_construct)
    retries: Retries = Field(default_factory=Retries.model_construct)
    cache: CacheSettings = Field(default_factory=CacheSettings.model_construct)
    review: ReviewSettings = Field(default_factory=ReviewSettings.model_construct)
    diagnostics: DiagnosticsSettings = Field(default_factory=DiagnosticsSettings.model_construct)
    subagent_model: str | None = None
    """The model of subagents. Default: `smallModel` if they only read, `model` if they edit."""
    subagents: SubagentSettings = Field(default_factory=SubagentSettings.model_construct)
    publish: PublishSettings = Field(default_factory=PublishSettings.model_construct)
    files: FileRules = Field(default_factory=FileRules.model_construct)
    language_servers: LanguageServerSettings = Field(default_factory=LanguageServerSettings.model_construct)
    host: HostSettings = Field(default_factory=HostSettings.model_construct)
    ide: tuple[Literal["claude", "gemini"], ...] = ()
    """Agents in a terminal that can use the editor as their IDE, in folders that you trust. Only your own settings
    count."""
    sandbox: bool = False
    """Whether commands in Edit mode can change nothing but the workspace. In Ask and Plan they can change nothing."""
    tools: ToolSettings = Field(default_factory=ToolSettings.model_construct)
    extensions: ExtensionSettings = Field(default_factory=ExtensionSettings.model_construct)
    mcp: McpSettings = Field(default_factory=McpSettings.model_construct)
    commands: CommandSettings = Field(default_factory=CommandSettings.model_construct)
    allowed_commands: tuple[CommandWords, ...] = ()
    """Commands that run without asking in Edit mode, by the words they start with; `*` is any text in a word."""
    forbidden_commands: tuple[CommandWords, ...] = ()
    """Commands that never run, in whatever they are wrapped."""
    rules: tuple[RuleSettings, ...] = ()
    """What tools may do, in order: any `deny` wins, then the last rule that matches."""
    role: str = "builder"
    """The role that Odin starts in; `odin.role` switches to another."""
    roles: Mapping[str, RoleSettings] = {}
    """Your own roles by name, besides the built-in `builder` and `planner`, which you can redefine."""
    _fixed: frozenset[str] = PrivateAttr(default=frozenset())

    @property
    def fixed(self) -> frozenset[str]:
        """Fields that the environment or the command line has set: what the user picks does not go before these."""
        return self._fixed

    def with_fixed(self, names: Iterable[str]) -> "Config":
        config = self.model_copy()
        config._fixed = frozenset(names)
        return config


def schema() -> dict[str, Any]:
    """JSON Schema of the file, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **json_schema(Config)}
