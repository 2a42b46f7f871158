"""Pure decisions: what a mode allows, by what a call would do, and what the user's rules say to it."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from odin_lsp.config import Config, FileRules, RuleOrigin
from odin_lsp.modes import MODES, Mode
from odin_lsp.patterns import CommandPattern, host_matches, path_matches, program_name
from odin_lsp.permissions.foreign_names import FOREIGN, ToolOwner, former_name
from odin_lsp.values import is_list


class Effect(StrEnum):
    """What running a tool can change."""

    NONE = "none"
    """Nothing but Odin's own notes."""
    READ_ONLY = "read_only"
    MUTATING = "mutating"
    NETWORK = "network"
    DELEGATE = "delegate"
    """Whatever a helper with no more rights does."""
    BLOCKING = "blocking"
    """It waits for a person."""
    FOREIGN = "foreign"
    """Whatever somebody else's program does, of which Odin knows nothing."""


CAPABILITIES: dict[Mode, frozenset[Effect]] = {
    "ask_mode": frozenset(Effect) - {Effect.MUTATING},
    "plan_mode": frozenset(Effect) - {Effect.MUTATING},
    "edit_mode": frozenset(Effect),
}
NEEDS_NO_QUESTION = frozenset(Effect) - {Effect.NETWORK, Effect.FOREIGN}
"""Edits are not asked about here, because every one of them is reviewed."""
COMMANDS = "ExecuteCommand"
ALIASES = {"Bash": COMMANDS, "FileRead": "Read", "FileWrite": "WriteFile", "FileEdit": "EditTool"}
"""Names that other agents' rules have for these tools."""


ONLY_READS = (
    "{} mode only reads, and {} may do more; say what you would do with it. The user can switch to Edit, or allow it"
    " here by a rule with `modes`"
)


@dataclass(frozen=True, slots=True)
class Verdict:
    decision: Literal["allow", "ask", "deny"]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    tool: str
    decision: Literal["allow", "ask", "deny"]
    pattern: CommandPattern | None = None
    path: str | None = None
    host: str | None = None
    modes: frozenset[Mode] = frozenset()
    """Empty: all of them."""
    reason: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of an MCP server's tool: patterns, by the names of arguments."""
    origin: RuleOrigin = "user"
    server: str = ""
    """Of an MCP server's tool: the id of the server that is meant; empty: whichever has the name."""

    @property
    def is_users(self) -> bool:
        """Not the workspace's, nor what an editor may have from there."""
        return self.origin == "user"

    def applies(self, tool: str, mode: Mode, owner: ToolOwner | None = None) -> bool:
        if (self.modes and mode not in self.modes) or (self.server and (owner is None or owner.id != self.server)):
            return False
        if self.decision != "allow":
            return forbids_name(self.tool, tool)
        return means(self.tool, tool) and (owner is None or self.tool == "*" or self._may_allow(owner))

    def _may_allow(self, owner: ToolOwner) -> bool:
        """By a name a rule means a server of whoever has written it; the user may name another one by its id."""
        if self.origin == "workspace":
            return not owner.is_users
        return owner.is_users or (self.is_users and bool(self.server))

    def is_about_arguments(self, arguments: Mapping[str, Any]) -> bool:
        """Of a list, one that matches is enough to be forbidden or asked about; to be allowed all have to."""
        enough = all if self.decision == "allow" else any
        for name, pattern in self.arguments.items():
            value: object = arguments.get(name)
            texts = [_text(it) for it in (value if is_list(value) else [value])] if value is not None else []
            if not texts or not enough(fnmatchcase(it, pattern) for it in texts):
                return False
        return True

    def is_about(self, path: Path | None, root: Path | None) -> bool:
        if self.path is None or path is None:
            return self.path is None
        if self.path.startswith(("/", "~")):
            return path_matches(str(Path(self.path).expanduser()), str(path))
        return root is not None and path.is_relative_to(root) and path_matches(self.path, str(path.relative_to(root)))


class Rules:
    """Any deny wins; then the last rule that matches; without one the mode and the kind of call decide."""

    def __init__(self, rules: Sequence[Rule] = (), files: FileRules | None = None, root: Path | None = None) -> None:
        self.files = files or FileRules()
        self._root = root
        self._rules = tuple(rules)
        self._denying = _ByProgram(rule for rule in rules if rule.decision == "deny")
        self._deciding = _ByProgram(rule for rule in rules if rule.decision != "deny")

    @classmethod
    def of(cls, config: Config, *, root: Path | None = None, approved: Sequence[str] = ()) -> "Rules":
        """`approved`: commands that the user wants no more to be asked about."""
        allowed = [*config.allowed_commands, *filter(_readable, approved)]
        return cls(
            [
                *(Rule(COMMANDS, "deny", CommandPattern.of(text)) for text in config.forbidden_commands),
                *(Rule(COMMANDS, "allow", CommandPattern.of(text)) for text in allowed),
                *(
                    Rule(
                        ALIASES.get(it.tool, it.tool),
                        it.decision,
                        CommandPattern.of(it.pattern) if it.pattern is not None else None,
                        it.path,
                        it.host,
                        frozenset(MODES[mode] for mode in it.modes),
                        it.reason,
                        it.arguments,
                        it.origin,
                        it.server,
                    )
                    for it in config.rules
                ),
            ],
            config.files,
            root,
        )

    def forbids(self, argv: Sequence[str], mode: Mode, cwd: Path) -> str:
        """Why this command never runs; empty if no rule says so."""
        for rule in self._denying.of(argv):
            if self._applies(rule, mode, cwd) and (rule.pattern is None or rule.pattern.reaches(argv)):
                return rule.reason or f"`{_shown(rule, argv)}` is forbidden by the user's rules"
        return ""

    def word_on(
        self, argv: Sequence[str], mode: Mode, cwd: Path
    ) -> tuple[Literal["ask"], str] | tuple[Literal["allow"], CommandPattern] | None:
        """What the last rule on this command says: ask, and why; or allow, and which words it has in mind."""
        for rule in reversed(list(self._deciding.of(argv))):
            if not self._applies(rule, mode, cwd):
                continue
            pattern = rule.pattern or CommandPattern(())
            if rule.decision == "ask" and pattern.reaches(argv):
                return "ask", rule.reason or f"your rules ask about `{_shown(rule, argv)}`"
            if rule.decision == "allow" and pattern.covers(argv):
                return "allow", pattern
        return None

    def allowing(self, argv: Sequence[str], mode: Mode, cwd: Path) -> bool:
        found = self.word_on(argv, mode, cwd)
        return found is not None and found[0] == "allow"

    def on(
        self,
        tool: str,
        mode: Mode,
        *,
        path: Path | None = None,
        host: str | None = None,
        arguments: Mapping[str, Any] = MappingProxyType({}),
        owner: ToolOwner | None = None,
    ) -> Verdict | None:
        """What the rules say to any other call; nothing, if none matches."""
        found = self._matching(tool, mode, path, host, arguments, owner)
        said = next((rule for rule in found if rule.decision == "deny"), found[-1] if found else None)
        if said is None:
            return None
        whose = "the user's" if said.decision == "deny" else "your"
        return Verdict(said.decision, said.reason or f"{whose} rules {said.decision} {tool}")

    def say_that_it_reads(
        self, tool: str, mode: Mode, arguments: Mapping[str, Any], owner: ToolOwner | None = None
    ) -> bool:
        """Whether the user, and nobody else, allows it in this very mode."""
        found = self._matching(tool, mode, None, None, arguments, owner)
        counting = [it for it in found if it.decision != "allow" or (it.is_users and it.modes)]
        denied = any(it.decision == "deny" for it in counting)
        return bool(counting) and counting[-1].decision == "allow" and not denied

    def may_say_that_it_reads(self, tool: str, mode: Mode, owner: ToolOwner | None = None) -> bool:
        """Whether `say_that_it_reads` is true for some arguments; what these are is not known yet."""
        allowed = False
        for rule in self._rules:
            is_about_it = rule.pattern is None and rule.path is None and rule.host is None
            if not (is_about_it and rule.applies(tool, mode, owner)):
                continue
            if rule.decision == "allow":
                allowed = allowed or (rule.is_users and bool(rule.modes))
            elif not rule.arguments:
                if rule.decision == "deny":
                    return False
                allowed = False
        return allowed

    def let_servers_read(self, mode: Mode) -> bool:
        """Whether the user allows any tool of an MCP server in this very mode."""
        return any(
            it.decision == "allow"
            and it.is_users
            and mode in it.modes
            and (it.tool == "*" or it.tool.startswith(FOREIGN))
            for it in self._rules
        )

    def _matching(
        self,
        tool: str,
        mode: Mode,
        path: Path | None,
        host: str | None,
        arguments: Mapping[str, Any],
        owner: ToolOwner | None,
    ) -> list[Rule]:
        return [
            rule
            for rule in self._rules
            if rule.applies(tool, mode, owner)
            and rule.pattern is None
            and rule.is_about(path, self._root)
            and rule.is_about_arguments(arguments)
            and (rule.host is None or (host is not None and host_matches(rule.host, host)))
        ]

    def _applies(self, rule: Rule, mode: Mode, cwd: Path) -> bool:
        return rule.applies(COMMANDS, mode) and rule.host is None and rule.is_about(cwd, self._root)


class _ByProgram:
    """Rules on commands, found by the program: ten thousand of them cost no more than ten."""

    def __init__(self, rules: Iterator[Rule]) -> None:
        self._named: dict[str, list[tuple[int, Rule]]] = defaultdict(list)
        self._others: list[tuple[int, Rule]] = []
        for place, rule in enumerate(rules):
            first = rule.pattern.words[0] if rule.pattern and rule.pattern.words else "*"
            (self._others if "*" in first else self._named[program_name(first)]).append((place, rule))

    def of(self, argv: Sequence[str]) -> Iterator[Rule]:
        named = self._named.get(program_name(argv[0]), []) if argv else []
        found = sorted([*named, *self._others], key=lambda it: it[0]) if self._others else named
        return (rule for _, rule in found)


def means(named: str, tool: str) -> bool:
    """Whether a name in settings is that of a tool; that of an MCP server (`mcp__server`) is that of all its tools."""
    if named in ("*", tool):
        return True
    server = named.removesuffix("__*")
    is_server = server.startswith(FOREIGN) and "__" not in server.removeprefix(FOREIGN)
    return is_server and tool.startswith(f"{server}__")


def forbids_name(named: str, tool: str) -> bool:
    """Whether a name in settings holds back a tool: also the name that it had before."""
    return means(named, tool) or means(named, former_name(tool))


def forbidden(tool: str, effect: Effect, mode: Mode) -> str:
    """Why the mode does not have it; empty if it has."""
    if effect in CAPABILITIES[mode]:
        return ""
    name = mode.removesuffix("_mode").title()
    return f"{name} mode cannot change files, so {tool} did not run; the user can switch to Edit"


def has(mode: Mode, tool: str, effect: Effect, rules: Rules | None = None, *, owner: ToolOwner | None = None) -> bool:
    """Whether the mode has the tool at all; on each call `decide` has the word."""
    if forbidden(tool, effect, mode):
        return False
    may_be_called = effect is not Effect.FOREIGN or mode == "edit_mode"
    return may_be_called or (rules is not None and rules.may_say_that_it_reads(tool, mode, owner))


def decide(
    tool: str,
    effect: Effect,
    mode: Mode,
    rules: Rules | None = None,
    *,
    path: Path | None = None,
    host: str | None = None,
    arguments: Mapping[str, Any] = MappingProxyType({}),
    owner: ToolOwner | None = None,
) -> Verdict:
    """No rule gives a mode what it cannot do. `owner`: of a tool of an MCP server."""
    if why := forbidden(tool, effect, mode):
        return Verdict("deny", why)
    if effect is Effect.FOREIGN and mode != "edit_mode":
        if rules is not None and rules.say_that_it_reads(tool, mode, arguments, owner):
            return Verdict("allow")
        return Verdict("deny", ONLY_READS.format(mode.removesuffix("_mode").title(), tool))
    said = rules.on(tool, mode, path=path, host=host, arguments=arguments, owner=owner) if rules is not None else None
    if said is not None:
        return said
    if effect in NEEDS_NO_QUESTION:
        return Verdict("allow")
    return Verdict("ask", f"{tool} has effects outside of Odin")


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _readable(pattern: str) -> bool:
    """The settings are checked when they are read; what was stored is not."""
    try:
        return bool(CommandPattern.of(pattern))
    except ValueError:
        return False


def _shown(rule: Rule, argv: Sequence[str]) -> str:
    return " ".join(rule.pattern.words) if rule.pattern and rule.pattern.words else argv[0]
