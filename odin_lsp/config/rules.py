"""Rules of the user: what tools, commands and files may do, each checked by its own examples when it is read."""

import shlex
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, PrivateAttr, model_validator
from pydantic_core import PydanticCustomError

from odin_lsp.config.section import Section


def _words(text: str) -> str:
    from odin_lsp.patterns import CommandPattern

    try:
        CommandPattern.of(text)
    except ValueError as error:
        raise PydanticCustomError("words", "{why}", {"why": str(error)}) from None
    return text


CommandWords = Annotated[str, AfterValidator(_words)]


RuleOrigin = Literal["user", "workspace", "editor"]


class FileRules(Section):
    deny: tuple[str, ...] = ()
    """Files that no tool reads or finds, as in a `.gitignore`; also absolute, or with `~` or `$HOME`."""
    allow: tuple[str, ...] = ()
    """Files that may be read although they look like secrets."""
    _denials: tuple[tuple[str, ...], ...] = PrivateAttr(default=())

    @property
    def denials(self) -> tuple[tuple[str, ...], ...]:
        """`deny`, each layer's patterns by themselves: with `!` a layer takes back what it has said, and no more."""
        return self._denials or ((self.deny,) if self.deny else ())

    def denied_by(self, denials: tuple[tuple[str, ...], ...]) -> "FileRules":
        rules = self.model_copy()
        rules._denials = denials
        return rules


class RuleExamples(Section):
    match: tuple[str, ...] = ()
    """Commands, paths or hosts that the rule is meant for."""
    not_match: tuple[str, ...] = ()
    """Others, that it is not meant for."""


class RuleSettings(Section):
    tool: str = Field(min_length=1)
    """The tool's name; `*` is every tool, `mcp__server` every tool of an MCP server."""
    pattern: str | None = None
    """Of `ExecuteCommand`: the words that a command starts with; `*` is any text in a word."""
    path: str | None = None
    """The file, as in a `.gitignore`; of `ExecuteCommand` the folder it runs in."""
    host: str | None = None
    """Of `WebFetch` and `WebSearch`: the host; `*.example.com` is every host below it."""
    arguments: Mapping[str, str] = {}
    """Of an MCP server's tool: what its arguments are, by name; `*` is any text."""
    server: str = ""
    """Of an MCP server's tool: the id that `odin-lsp mcp list` shows. Without it, to allow means your own server of
    this name; one of a project needs the id."""
    modes: tuple[Literal["ask", "plan", "edit"], ...] = ()
    """Where the rule applies; empty: everywhere. Tools of MCP servers are allowed in Ask and Plan only by a rule of
    your own file that names the mode."""
    decision: Literal["allow", "ask", "deny"]
    reason: str = ""
    """What the model and the user are told."""
    examples: RuleExamples = Field(default_factory=RuleExamples.model_construct)
    """Checked when the rule is read: if one fails, the rule is refused."""
    _origin: RuleOrigin = PrivateAttr(default="user")

    @property
    def origin(self) -> RuleOrigin:
        """Who has written it. An editor may pass on what a workspace says."""
        return self._origin

    def with_origin(self, origin: RuleOrigin) -> "RuleSettings":
        rule = self.model_copy()
        rule._origin = origin
        return rule

    @model_validator(mode="after")
    def _holds(self) -> "RuleSettings":
        from odin_lsp.patterns import CommandPattern, host_matches, path_matches

        for name in ("arguments", "server") if not self.tool.startswith("mcp__") else ():
            if not getattr(self, name):
                continue
            why = f"`{name}` is for tools of MCP servers, `mcp__server__tool`"
            raise PydanticCustomError("rule", "{name}: {why}", {"name": self._name, "why": why})

        def matches(example: str) -> bool:
            if self.pattern is not None:
                words, pattern = shlex.split(example), CommandPattern.of(self.pattern)
                return pattern.covers(words) if self.decision == "allow" else pattern.reaches(words)
            if self.path is not None:
                return path_matches(self.path, example)
            return self.host is None or host_matches(self.host, example)

        try:
            wrong = [it for it in self.examples.match if not matches(it)]
            wrong += [it for it in self.examples.not_match if matches(it)]
            matches("")
        except ValueError as error:
            raise PydanticCustomError("rule", "{name}: {why}", {"name": self._name, "why": str(error)}) from None
        if wrong:
            raise PydanticCustomError(
                "rule", "{name} does not hold for its example `{example}`", {"name": self._name, "example": wrong[0]}
            )
        return self

    @property
    def _name(self) -> str:
        about = " ".join(filter(None, (self.pattern, self.path, self.host)))
        return f"the rule to {self.decision} {self.tool}{f' `{about}`' if about else ''}"
