"""What editors send to keep a conversation in order between its turns."""

from dataclasses import dataclass, field
from typing import Literal

from odin_lsp.agent.own_commands import SlashCommand
from odin_lsp.brought import BroughtItem
from odin_lsp.extensions.registry import Listed, ListedKind
from odin_lsp.models.account.listing import AccountListing
from odin_lsp.models.local_servers import FoundServer
from odin_lsp.models.reference import Effort
from odin_lsp.project.opening_notices import OpeningNotice
from odin_lsp.values import Value


@dataclass(frozen=True, slots=True)
class ContinueParams(Value):
    """`odin.continue`: take up the last turn where it was cut off or has failed, or have the model answer what was
    noted since. Nothing is said or read again. The answer is its `Outcome`, and its events have the turn's id as
    before."""

    session_id: str | None = None
    """Without it: the current session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteParams(Value):
    """`odin.note`: add something to the context. The model is not asked; it reads it with the next message."""

    text: str
    session_id: str | None = None
    """Without it: the current session."""


@dataclass(frozen=True, slots=True)
class Noted(Value):
    noted: bool


@dataclass(frozen=True, slots=True)
class RemoveLastParams(Value):
    """`odin.removeLast`: take the last message out of what the model reads: its answer, or what was said or noted
    after it. Only between turns."""

    session_id: str | None = None
    """Without it: the current session."""


@dataclass(frozen=True, slots=True)
class Removed(Value):
    removed: bool
    """False if there was none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactParams(Value):
    """`odin.compact`: make the conversation shorter, as Odin does when it no longer fits. It is a turn: it can wait in
    the queue and be canceled, and its events have its id."""

    session_id: str | None = None
    """Without it: the current session."""
    focus: str = ""
    """What the summary should keep above all."""
    turn_id: str | None = None


@dataclass(frozen=True, slots=True)
class CompactResult(Value):
    """Tokens of the conversation. They are the same if it could not be made shorter."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class ClearParams(Value):
    """`odin.clear`: forget all that was said in a session, and its todo list. Only between turns; files stay as they
    are. `odin.session.new` leaves the old conversation as it is."""

    session_id: str | None = None
    """Without it: the current session."""


@dataclass(frozen=True, slots=True)
class PermissionsParams(Value):
    """`odin.permissions`: list what the user has allowed, or have Odin ask about it again."""

    action: Literal["list", "remove"] = "list"
    id: str | None = None
    """With `remove`: which."""
    session_id: str | None = None
    """Whose; without it: the current session's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed(Value):
    id: str
    tool: str
    pattern: str
    """How a command begins, or a host."""
    mode: str
    scope: Literal["session", "workspace", "always"]
    since: str


@dataclass(frozen=True, slots=True)
class Permissions(Value):
    """All that needs no question in this session."""

    allowed: tuple[Allowed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelParams(Value):
    """`odin.model`: choose models, now and for the next time in this workspace, or see which are chosen. A guest
    chooses for its session alone."""

    model: str | None = None
    """`provider/model[@effort]`; empty: as in the settings again."""
    small_model: str | None = None
    """The same. A guest cannot choose it."""
    session_id: str | None = None
    """Of a guest; without it its current one."""
    find_local: bool = False
    """Look for model servers on this computer, which takes up to two seconds."""
    ask_accounts: Literal["beside", "wait", "anew"] | None = None
    """Ask the providers that there is a key for which models the account has, unless they have said so in the last ten
    minutes. `beside`: the answer does not wait for them; `wait`: it does, which takes seconds; `anew`: the same, and
    all are asked."""


@dataclass(frozen=True, slots=True)
class ModelFacts(Value):
    """Of a model that is known."""

    context: int
    """Tokens that a request may have."""
    input_usd: float
    """For a million tokens."""
    output_usd: float


@dataclass(frozen=True, slots=True)
class ModelState(Value):
    model: str
    small_model: str
    running: str
    available: tuple[str, ...]
    """Models that are known and have a key. Others may be selected by name."""
    efforts: dict[str, tuple[Effort, ...]] = field(default_factory=dict[str, tuple[Effort, ...]])
    """Of these models: what may be written behind an `@`."""
    picked: bool = False
    """Whether `model` was chosen by this command rather than by the settings."""
    small_picked: bool = False
    facts: dict[str, ModelFacts] = field(default_factory=dict[str, ModelFacts])
    """Of those that are available and have a price."""
    local: tuple[FoundServer, ...] | None = None
    """Model servers on this computer, if they were looked for."""
    accounts: tuple[AccountListing, ...] | None = None
    """What the accounts have, as far as their providers have said it since Odin started."""


@dataclass(frozen=True, slots=True)
class KeyCheckParams(Value):
    """`odin.key.check`: whether a provider takes a key. It is neither kept nor used for anything else."""

    provider: Literal["anthropic", "google", "openai"]
    key: str


@dataclass(frozen=True, slots=True)
class RoleParams(Value):
    """`odin.role`: switch to another role, or see which there are."""

    role: str | None = None


@dataclass(frozen=True, slots=True)
class RoleChoice(Value):
    name: str
    description: str
    models: tuple[str, ...]
    """In the order in which they are tried; empty: as without a role."""


@dataclass(frozen=True, slots=True)
class RoleState(Value):
    role: str
    roles: tuple[RoleChoice, ...]
    """Builder, planner, then the others by name."""


@dataclass(frozen=True, slots=True)
class NoticesParams(Value):
    """`odin.notices`: what a person is told who begins to work here, by a front end that attaches to an Odin that is
    there already: what is wrong with the settings, and what the folder brings that nobody has decided on."""


@dataclass(frozen=True, slots=True)
class Notices(Value):
    notices: tuple[OpeningNotice, ...]


@dataclass(frozen=True, slots=True)
class BroughtParams(Value):
    """`odin.brought`: all that the workspace's first folder brings and that has an effect only if the user agrees."""


@dataclass(frozen=True, slots=True)
class Brought(Value):
    digest: str
    """Of the list as it is now; `odin.trust` takes it."""
    items: tuple[BroughtItem, ...]
    text: str
    """The same for people, a line for each."""


@dataclass(frozen=True, slots=True)
class TrustParams(Value):
    """`odin.trust`: whether to trust the workspace's first folder. To trust it is to agree to its settings and texts as
    they are now. Programs and servers run only if `items` names them."""

    decision: Literal["trust", "restrict", "ask"]
    """`ask`: Odin shows what the folder brings, and asks the user about it."""
    digest: str | None = None
    """Of the list that the user has seen (`odin.brought`). If it is another one now, the decision is refused. To trust
    a folder that brings something takes it."""
    items: tuple[str, ...] = ()
    """Ids of the hooks, MCP servers and language servers that the user has agreed to."""


@dataclass(frozen=True, slots=True)
class Trusted(Value):
    trusted: bool


@dataclass(frozen=True, slots=True)
class ExtensionsParams(Value):
    """`odin.extensions`: what users and projects have plugged in, and switch it on or off until Odin ends; for good it
    is switched off by the setting `extensions.disabled`."""

    action: Literal["list", "enable", "disable"] = "list"
    name: str | None = None
    """What to switch: a name, or `kind:name`."""
    names: tuple[str, ...] | None = None
    """Several of them; an empty list: all."""
    kind: ListedKind | None = None
    """Only these are listed or switched: with `mcp` and an empty list, all MCP servers."""


@dataclass(frozen=True, slots=True)
class ExtensionList(Value):
    extensions: tuple[Listed, ...]


@dataclass(frozen=True, slots=True)
class SlashCommandsParams(Value):
    """`odin.slashCommands`: what `/name` may stand for at the beginning of a message, for completion. All can be sent
    as messages by `odin.ask`, `odin.plan` and `odin.edit`; those of Odin are answered without a model."""


@dataclass(frozen=True, slots=True)
class SlashCommands(Value):
    commands: tuple[SlashCommand, ...]
    """Odin's own, then commands and skills by name, then prompts of the MCP servers that are ready."""


@dataclass(frozen=True, slots=True)
class FilesParams(Value):
    """`odin.files`: what `@name` may stand for in a message, for completion where there is no editor."""


@dataclass(frozen=True, slots=True)
class FoundFiles(Value):
    files: tuple[str, ...]
    """All that the model may find, as it names them; what `.gitignore` excludes is left out."""
