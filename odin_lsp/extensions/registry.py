"""All extensions that there are, which of them count, and why others do not."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

from odin_lsp.extensions.agents import NamedAgent, agent_of
from odin_lsp.extensions.builtin_commands import is_taken
from odin_lsp.extensions.custom_commands import CustomCommand, command_of
from odin_lsp.extensions.front_matter import Misunderstood
from odin_lsp.extensions.hook_files import CommandHook, hooks_of
from odin_lsp.extensions.mcp_files import McpServer, servers_of
from odin_lsp.extensions.places import Brought, Owner, brought_by, brought_by_user
from odin_lsp.extensions.skills import Skill, skill_of
from odin_lsp.values import Value

State = Literal["on", "off", "untrusted", "hidden", "broken"]
"""`off`: by the settings; `untrusted`: the folder is not trusted; `hidden`: another one has the same name."""
ListedKind = Literal["agent", "skill", "command", "hook", "mcp", "file"]
CHARS_PER_TOKEN = 4
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
    running: Literal["configured", "starting", "ready", "failed"] | None = None
    """Of an MCP server that is on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extensions:
    agents: Mapping[str, NamedAgent] = field(default_factory=dict[str, NamedAgent])
    skills: Mapping[str, Skill] = field(default_factory=dict[str, Skill])
    commands: Mapping[str, CustomCommand] = field(default_factory=dict[str, CustomCommand])
    hooks: tuple[CommandHook, ...] = ()
    servers: Mapping[str, McpServer] = field(default_factory=dict[str, McpServer])
    listed: tuple[Listed, ...] = ()

    @classmethod
    def found(cls, root: Path | None, *, is_trusted: bool, disabled: Collection[str] = ()) -> "Extensions":
        """What counts now. The project's goes before the user's, and Odin's own files before those of others."""
        looking = _Looking(is_trusted, frozenset(disabled))
        for file in (*(brought_by(root) if root else ()), *brought_by_user()):
            looking.take(file)
        return cls(
            agents=looking.counting("agent", NamedAgent),
            skills=looking.counting("skill", Skill),
            commands=looking.counting("command", CustomCommand),
            hooks=tuple(looking.hooks),
            servers=looking.counting("mcp", McpServer),
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


class _Looking:
    def __init__(self, is_trusted: bool, disabled: frozenset[str]) -> None:
        self._is_trusted = is_trusted
        self._disabled = disabled
        self._counting: dict[tuple[ListedKind, str], object] = {}
        self.hooks: list[CommandHook] = []
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
        except Misunderstood as error:
            self._broken(file, str(error))

    def _understand(self, file: Brought) -> None:
        match file.kind:
            case "agent":
                agent = agent_of(file)
                self._named(file, "agent", agent.name, agent, agent.description, len(str(agent)))
            case "skill":
                skill = skill_of(file)
                cost = len(str(skill)) if skill.for_model else 0
                self._named(file, "skill", skill.name, skill, skill.description, cost)
            case "command":
                command = command_of(file)
                self._named(file, "command", command.name, command, command.description)
            case "mcp":
                servers, problems = servers_of(file)
                for server in servers:
                    self._named(file, "mcp", server.name, server, server.command or server.url)
                self._all_broken(file, problems)
            case "hooks":
                hooks, problems = hooks_of(file)
                for hook in hooks:
                    if self._list(file, "hook", hook.name, "", 0, is_hidden=False):
                        self.hooks.append(hook)
                self._all_broken(file, problems)

    def _named(
        self, file: Brought, kind: ListedKind, name: str, it: object, description: str = "", cost: int = 0
    ) -> None:
        is_hidden = (kind, name) in self._counting or (kind == "command" and is_taken(name))
        if self._list(file, kind, name, description, cost, is_hidden=is_hidden):
            self._counting[kind, name] = it

    def _list(
        self, file: Brought, kind: ListedKind, name: str, description: str, cost: int, *, is_hidden: bool
    ) -> bool:
        """Whether it counts."""
        state: State = "on"
        if file.owner == "project" and not self._is_trusted:
            state = "untrusted"
        elif self._disabled & {name, f"{kind}:{name}"}:
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

    def _all_broken(self, file: Brought, problems: Iterable[str]) -> None:
        for problem in problems:
            self._broken(file, problem)

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
