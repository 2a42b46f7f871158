"""All extensions that there are, which of them count, and why others do not."""

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Literal, TypeVar

from odin_lsp.brought import BroughtItem, identify, shortened
from odin_lsp.extensions.agents import NamedAgent, agent_of
from odin_lsp.extensions.builtin_commands import is_taken
from odin_lsp.extensions.custom_commands import CustomCommand, command_of
from odin_lsp.extensions.front_matter import Misunderstood
from odin_lsp.extensions.hook_files import CommandHook, describe_hook, hooks_of
from odin_lsp.extensions.mcp_files import McpServer, describe_server, servers_of
from odin_lsp.extensions.places import Brought, Owner, brought_by, brought_by_user
from odin_lsp.extensions.skills import Skill, skill_of
from odin_lsp.named_files import LookupBudget, TooManyNames, named_files
from odin_lsp.server_states import McpRunState
from odin_lsp.values import Value
from odin_lsp.workspace.uris import printable

State = Literal["on", "off", "untrusted", "hidden", "broken"]
"""`off`: by the settings; `untrusted`: the user has not agreed to it; `hidden`: another one has the same name."""
ListedKind = Literal["agent", "skill", "command", "hook", "mcp", "file"]
CHARS_PER_TOKEN = 4
MAX_PROBLEMS = 20
"""Of one file that are told."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed(Value):
    kind: ListedKind
    name: str
    source: str
    """The path of its file."""
    owner: Owner
    state: State
    tokens: int = 0
    """What each conversation spends on it."""
    description: str = ""
    problem: str | None = None
    running: McpRunState | None = None
    """Of an MCP server that is on; likewise what follows."""
    attempt: int | None = None
    max_attempts: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extensions:
    agents: Mapping[str, NamedAgent] = field(default_factory=dict[str, NamedAgent])
    skills: Mapping[str, Skill] = field(default_factory=dict[str, Skill])
    commands: Mapping[str, CustomCommand] = field(default_factory=dict[str, CustomCommand])
    hooks: tuple[CommandHook, ...] = ()
    servers: Mapping[str, McpServer] = field(default_factory=dict[str, McpServer])
    off_servers: tuple[McpServer, ...] = ()
    listed: tuple[Listed, ...] = ()

    @classmethod
    def found(
        cls,
        root: Path | None,
        *,
        agreed: Container[str] = (),
        disabled: Collection[str] = (),
        switched: Mapping[str, bool] = MappingProxyType({}),
    ) -> "Extensions":
        """What counts now. The project's goes before the user's, and Odin's own files before those of others. Of the
        project's only what is `agreed` to counts, as it was read just now. `switched`: on or off, by `kind:name`,
        whatever is `disabled`."""
        looking = _Looking(root, agreed, frozenset(disabled), switched)
        for file in (*(brought_by(root) if root else ()), *brought_by_user()):
            looking.take(file)
        return cls(
            agents=looking.counting("agent", NamedAgent),
            skills=looking.counting("skill", Skill),
            commands=looking.counting("command", CustomCommand),
            hooks=tuple(looking.hooks),
            servers=looking.counting("mcp", McpServer),
            off_servers=tuple(looking.off_servers),
            listed=tuple(looking.listed),
        )

    def with_servers(self, servers: Iterable[McpServer]) -> "Extensions":
        """With those that a front end brings; of two with the same name its own counts."""
        brought = {it.name: it for it in servers}
        return replace(self, servers={**self.servers, **brought}) if brought else self

    @property
    def offered_skills(self) -> Sequence[Skill]:
        """Of which the model is told."""
        return [it for it in self.skills.values() if it.for_model]


def brought_extensions(root: Path) -> list[BroughtItem]:
    """All that a project plugs in, whether it is used or not."""
    looking = _Looking(root, (), frozenset(), {})
    for file in brought_by(root):
        looking.take(file)
    return looking.brought


class _Looking:
    def __init__(
        self, root: Path | None, agreed: Container[str], disabled: frozenset[str], switched: Mapping[str, bool]
    ) -> None:
        self._root = root.resolve() if root else Path("/")
        self._agreed = agreed
        self._disabled = disabled
        self._switched = switched
        self.brought: list[BroughtItem] = []
        self._counting: dict[tuple[ListedKind, str], object] = {}
        self.hooks: list[CommandHook] = []
        self.off_servers: list[McpServer] = []
        self.listed: list[Listed] = []

    def counting(self, kind: ListedKind, of: type[T]) -> Mapping[str, T]:
        found = {name: it for (its, name), it in self._counting.items() if its == kind}
        return {name: it for name, it in found.items() if isinstance(it, of)}

    def take(self, file: Brought) -> None:
        if file.problem:
            self._broken(file, file.problem)
            return
        try:
            self._understand(file)
        except (Misunderstood, TooManyNames) as error:
            self._broken(file, str(error))

    def _understand(self, file: Brought) -> None:
        match file.kind:
            case "agent":
                agent = agent_of(file)
                item = self._text_item(file, "agent", agent.name, agent.description, astuple(agent))
                self._register(file, item, "agent", agent.name, agent, agent.description, len(str(agent)))
            case "skill":
                skill = skill_of(file)
                cost = len(str(skill)) if skill.for_model else 0
                told = astuple(replace(skill, folder=PurePath(self._shown(file))))
                item = self._text_item(file, "skill", skill.name, skill.description, [str(it) for it in told])
                self._register(file, item, "skill", skill.name, skill, skill.description, cost)
            case "command":
                self._take_command(file)
            case "mcp":
                servers, problems = servers_of(file)
                budget = LookupBudget()
                for server in servers:
                    self._take_server(file, server, budget)
                self._all_broken(file, problems)
            case "hooks":
                hooks, problems = hooks_of(file)
                budget = LookupBudget()
                for hook in hooks:
                    self._take_hook(file, hook, budget)
                self._all_broken(file, problems)

    def _take_command(self, file: Brought) -> None:
        command = command_of(file)
        runs = command.shell_commands
        files = named_files(self._root, *(runs if file.owner == "project" else ()))
        does = f"runs {', '.join(f'`{it}`' for it in runs)}; {command.description}" if runs else command.description
        effect = astuple(replace(command, source=None))
        item = self._text_item(file, "command", command.name, does, effect, files)
        self._register(file, item, "command", command.name, command, command.description)

    def _take_server(self, file: Brought, server: McpServer, budget: LookupBudget) -> None:
        try:
            item = self._brought(file, lambda: describe_server(server, self._root, budget))
        except TooManyNames as error:
            self._broken(file, f"{server.name}: {error}")
            return
        known = replace(server, agreed_as=item.id) if item else server
        self._register(file, item, "mcp", server.name, known, server.command or server.url)
        if self.listed[-1].state == "off":
            self.off_servers.append(known)

    def _take_hook(self, file: Brought, hook: CommandHook, budget: LookupBudget) -> None:
        """One that a project brings twice is asked once, as elsewhere."""
        try:
            item = self._brought(file, lambda: describe_hook(hook, self._root, budget))
        except TooManyNames as error:
            self._broken(file, f"{hook.name}: {error}")
            return
        known = replace(hook, agreed_as=item.id) if item else hook
        is_hidden = item is not None and any(it.agreed_as == item.id for it in self.hooks)
        if self._list(file, item, "hook", hook.name, "", 0, is_hidden=is_hidden):
            self.hooks.append(known)

    def _brought(self, file: Brought, describe: Callable[[], BroughtItem]) -> BroughtItem | None:
        """What is agreed to or not; nothing of what is the user's own."""
        if file.owner == "user":
            return None
        self.brought.append(describe())
        return self.brought[-1]

    def _text_item(
        self,
        file: Brought,
        kind: Literal["agent", "skill", "command"],
        name: str,
        does: str,
        effect: object,
        files: Mapping[str, str] = MappingProxyType({}),
    ) -> BroughtItem | None:
        """A file that is told to a model. `effect` is all that is made of it."""
        return self._brought(
            file,
            lambda: BroughtItem(
                id=identify(kind, effect, dict(files)),
                kind=kind,
                name=name,
                what=shortened(f"{'/' if kind == 'command' else ''}{name}: {does}"),
                file=printable(self._shown(file)),
                includes=tuple(files),
            ),
        )

    def _shown(self, file: Brought) -> str:
        is_here = file.path.is_relative_to(self._root)
        return str(file.path.relative_to(self._root) if is_here else file.path)

    def _register(
        self,
        file: Brought,
        item: BroughtItem | None,
        kind: ListedKind,
        name: str,
        extension: object,
        description: str = "",
        cost: int = 0,
    ) -> None:
        is_hidden = (kind, name) in self._counting or (kind == "command" and is_taken(name))
        if self._list(file, item, kind, name, description, cost, is_hidden=is_hidden):
            self._counting[kind, name] = extension

    def _list(
        self,
        file: Brought,
        item: BroughtItem | None,
        kind: ListedKind,
        name: str,
        description: str,
        cost: int,
        *,
        is_hidden: bool,
    ) -> bool:
        """Whether it counts."""
        state: State = "on"
        if item is not None and item.id not in self._agreed:
            state = "untrusted"
        elif self._is_off(kind, name):
            state = "off"
        elif is_hidden:
            state = "hidden"
        is_on = state == "on"
        self.listed.append(
            Listed(
                kind=kind,
                name=name,
                source=str(file.path),
                owner=file.owner,
                state=state,
                tokens=-(-cost // CHARS_PER_TOKEN) if is_on else 0,
                description=description,
            )
        )
        return is_on

    def _is_off(self, kind: ListedKind, name: str) -> bool:
        full_name = f"{kind}:{name}"
        return not self._switched.get(full_name, not self._disabled & {name, full_name})

    def _all_broken(self, file: Brought, problems: Sequence[str]) -> None:
        for problem in problems[:MAX_PROBLEMS]:
            self._broken(file, problem)
        if len(problems) > MAX_PROBLEMS:
            self._broken(file, f"{len(problems) - MAX_PROBLEMS:,} more of its entries cannot be used")

    def _broken(self, file: Brought, problem: str) -> None:
        self.listed.append(
            Listed(
                kind="file",
                name=file.name,
                source=str(file.path),
                owner=file.owner,
                state="broken",
                problem=problem,
            )
        )
