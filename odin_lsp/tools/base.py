"""A tool: `prepare` (may refuse) → `execute` → `finish`. Adding one is adding a file to this package."""

import asyncio
import json
import os
import pkgutil
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from odin_lsp import tools
from odin_lsp.commands.session import SessionCommands
from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.events import Emit
from odin_lsp.extensions.skills import Skill
from odin_lsp.intelligence.servers import NoServers, Servers
from odin_lsp.mcp.pool import McpServers
from odin_lsp.messages import Attachment
from odin_lsp.modes import Mode
from odin_lsp.permissions.foreign_names import ToolOwner
from odin_lsp.permissions.gate import CHANGED, Gate, Want
from odin_lsp.permissions.outside import OutsideGate
from odin_lsp.permissions.rules import Effect, decide
from odin_lsp.ports import Editor
from odin_lsp.records import Audit, CommandRun, Todo
from odin_lsp.review.drafts import Draft
from odin_lsp.review.saving import Saver
from odin_lsp.sessions.memory import Memory
from odin_lsp.tasks import beside_loop
from odin_lsp.values import is_list, is_object, json_schema, problem
from odin_lsp.web.pages import Pages
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.roots import vouches
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.shown import Shown
from odin_lsp.workspace.text import split_lines
from odin_lsp.workspace.uris import is_deep, printable
from odin_lsp.workspace.views import Window

MAX_RESULT_CHARS = 30_000
UNSEEN = "(this has {count} characters that people cannot see; text in them is not from the user)"
EDITED = "The user changed this call before allowing it, to: {what}"
DRAFTED = "your own edits, which the user has not reviewed yet, are shown"


class Params(BaseModel):
    """What a model may pass. Descriptions are the docstrings below the fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


NonEmpty = Annotated[str, Field(min_length=1), WithJsonSchema({"type": "string"})]
"""Its schema does not say so: that would be sent with every request, and models do not ask for nothing."""
P = TypeVar("P", bound=Params)
SmallModel = Callable[[str, str], Awaitable[str]]
"""Instructions and a text → what the small model says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    data: str
    """For the model."""
    description: str
    """For people, one line."""
    files: tuple[str, ...] = ()
    added: int = 0
    removed: int = 0
    created: bool = False
    diff: str | None = None
    ran: CommandRun | None = None
    attached: tuple[Attachment, ...] = ()
    """What the model is shown beside `data`."""
    audit: Audit = "rules"


class ToolFailed(ToolError):
    """A call that has failed, and has more to tell than why."""

    def __init__(self, output: ToolOutput) -> None:
        super().__init__(output.data)
        self.output = output


def output_of(error: ToolError) -> ToolOutput:
    """What there is to tell of a call that has failed."""
    if isinstance(error, ToolFailed):
        return error.output
    return ToolOutput(data=str(error), description=str(error).partition("\n")[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    files: Files
    search: Search
    editor: Editor
    mode: Mode
    session_id: str
    emit: Emit
    shown: Shown
    """What the model has seen of files."""
    gate: Gate
    """Whom to ask."""
    outside: OutsideGate
    commands: SessionCommands
    """The session's."""
    draft: Draft
    """Where edits go to be reviewed."""
    saver: Saver
    """Has the editor save what the turn has changed, before a command looks at the disk."""
    small: SmallModel | None = None
    """None: there is no model that could judge a text."""
    todos: list[Todo] = field(default_factory=list[Todo])
    """The session's; replaced in place."""
    pages: Pages = field(default_factory=Pages)
    """The web."""
    skills: Mapping[str, Skill] = field(default_factory=dict[str, Skill])
    servers: Servers = field(default_factory=NoServers)
    """Language servers."""
    mcp: McpServers | None = None
    """None: there are none."""
    delegate: "Callable[[AgentTask], Awaitable[Completion]] | None" = None
    """Has a helper do it; none: this is one."""
    begin: "Callable[[AgentTask], str] | None" = None
    """The same, but nobody waits for it: its id."""
    write_scope: tuple[Path, ...] = ()
    """Where edits are allowed; empty: everywhere."""
    sees: bool = True
    """Whether the model sees images."""
    reads_documents: bool = True
    """Whether it takes PDFs as they are."""
    memory: Memory | None = None
    """Notes on the workspace; none: the user wants none."""
    note: Callable[[str], None] = lambda _: None
    """Keeps a finding with the session."""
    may_note: bool = True
    """Whether notes may be taken and dropped, or only read."""
    has_results: Callable[[Collection[str]], bool] = lambda _: False
    """Whether the results of all these calls are in the conversation, as they were."""
    call_id: str = ""
    granted: Want | None = None
    """What the user has just allowed this call; none: nothing had to be."""

    async def reach(self, name: str) -> Path:
        """The canonical path of a name that the model gave; outside of the workspace the user decides."""
        place = await self.files.resolved(name)
        if not place.inside:
            await self.outside.allow(place.path, name, self.files.around(place.path))
            if await self.files.resolved(name) != place:
                raise PermissionDenied(f"{printable(name)} was exchanged while the user was asked")
        if str(place.path) != (called := os.path.normpath(self.files.absolute(name))):
            self.draft.names[place.path] = (*self.draft.names.get(place.path, ()), Path(called))
        return place.path

    async def window(self, path: Path, start: int, count: int) -> Window:
        """Some lines of a file as the model should know it: with its own edits that nobody has reviewed yet."""
        drafted = self.draft.texts.get(path)
        if drafted is None:
            return await self.files.window_beside_loop(path, start, count)
        lines = await beside_loop(len(drafted), split_lines, drafted)
        return Window(path, lines[start - 1 : start - 1 + count], len(lines), len(drafted), note=DRAFTED)

    async def folders(self, name: str | None) -> list[Path]:
        """Where to search: what was named, else all folders of the workspace."""
        if name is not None:
            return [await self.reach(name)]
        if not self.files.roots:
            raise ToolError("no folder is open; open one in the editor and ask again")
        for root in self.files.search_roots:
            if not vouches(root):
                await self.outside.allow(root, str(root), root)
        return self.files.search_roots


@dataclass(frozen=True, slots=True)
class AgentTask:
    """What a helper is for."""

    description: str
    prompt: str
    mode: Mode
    agent: str | None = None
    """The name of one that the project describes."""
    model: str | None = None
    write_scope: tuple[Path, ...] = ()
    """Where it may edit; empty: wherever the mode allows."""
    call_id: str = ""


CompletionStatus = Literal["completed", "stopped", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Completion:
    """What a helper hands over."""

    agent_id: str
    status: CompletionStatus
    summary: str
    files_changed: tuple[str, ...] = ()
    verification_run: tuple[str, ...] = ()
    remaining_limitations: tuple[str, ...] = ()
    known_risks: tuple[str, ...] = ()
    follow_up_recommended: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()


class Tool(ABC, Generic[P]):
    """The class's docstring is what the model reads."""

    name: str
    effect: ClassVar[Effect]
    params: type[P]
    main_only: ClassVar[bool] = False
    """Not for subagents."""
    runs_commands: ClassVar[bool] = False
    deletes_files: ClassVar[bool] = False
    timeout: ClassVar[float | None] = None
    """Seconds that a call may take once it is allowed; none: as long as it takes."""

    @property
    def owner(self) -> ToolOwner | None:
        """The MCP server that it is of."""
        return None

    @property
    def changes_files(self) -> bool:
        """Those that its output names, itself or through a helper."""
        return self.effect in (Effect.MUTATING, Effect.DELEGATE)

    @cached_property
    def description(self) -> str:
        return cleandoc(type(self).__doc__ or "")

    @cached_property
    def schema(self) -> Mapping[str, Any]:
        """One JSON Schema, plain enough for every provider."""
        schema = json_schema(self.params)
        return _plain(schema, schema.pop("$defs", {}))

    def parse(self, arguments: Mapping[str, Any]) -> P:
        try:
            return self.params.model_validate(arguments)
        except ValidationError as error:
            found = error.errors()
            inner = {item["loc"][:1] for item in found if len(item["loc"]) > 1}  # a list of these is not too short
            wrong = "; ".join(problem(item) for item in found if item["loc"] not in inner)
            raise ToolError(f"{self.name} was called with bad arguments: {wrong}. {_takes(self.schema)}.") from None

    @abstractmethod
    def describe(self, params: P) -> str:
        """What the call is about to do, for people, in a few words."""

    def about(self, params: P) -> tuple[str | None, str | None]:
        """The path and the host that the user's rules are asked about."""
        return getattr(params, "file_path", None) or getattr(params, "path", None), None

    def wants(self, params: P, context: ToolContext) -> Want | None:
        """What only the user can allow, as things are now; `PermissionDenied` where nobody can."""
        return self.judged(params, context, *self.about(params))

    async def wanted(self, params: P, context: ToolContext) -> Want | None:
        """The same. What a command means may take long to be found, and what lies deep; nobody else waits for it."""
        if self.runs_commands or is_deep(self.about(params)[0] or ""):
            return await asyncio.to_thread(self.wants, params, context)
        return self.wants(params, context)

    def judged(self, params: P, context: ToolContext, name: str | None, host: str | None) -> Want | None:
        """The same, by what the user's rules say to this path and this host."""
        path = context.files.resolve(name).path if name else None
        verdict = decide(self.name, self.effect, context.mode, context.gate.rules(context.mode), path=path, host=host)
        match verdict.decision:
            case "deny":
                raise PermissionDenied(verdict.reason)
            case "ask" if host is None or host not in context.gate.remembered(self.name, context.mode):
                return Want(
                    tool=self.name,
                    title=f"May Odin {printable(self.describe(params))}?",
                    reason=verdict.reason,
                    what=json.dumps(params.model_dump(mode="json", exclude_defaults=True), ensure_ascii=True, indent=1),
                    mode=context.mode,
                    pattern=host,
                )
            case _:
                return None

    def edited(self, params: P, what: str) -> P:
        """The call as the user wants it: for tools whose `Want` is `editable`, and for no others."""
        raise NotImplementedError

    async def prepare(self, params: P, context: ToolContext) -> None:
        """Refuse with a `ToolError` what cannot work, before anything happens."""

    @abstractmethod
    async def execute(self, params: P, context: ToolContext) -> ToolOutput: ...

    async def finish(self, output: ToolOutput, context: ToolContext) -> ToolOutput:
        """The last word on what the model is told."""
        return output

    async def run(self, params: P, context: ToolContext) -> ToolOutput:
        """The only way to use a tool: nothing happens before it is allowed."""
        want = await self.wanted(params, context)
        if want is not None:
            if (edited := await context.gate.ask(want)) is not None:
                return await self._run_edited(self.edited(params, edited), edited, context)
            if await self.wanted(params, context) not in (None, want):
                raise PermissionDenied(CHANGED)
            return replace(await self._run_allowed(params, replace(context, granted=want)), audit="user")
        return await self._run_allowed(params, context)

    async def _run_edited(self, params: P, what: str, context: ToolContext) -> ToolOutput:
        """What the user wrote is allowed, unless the rules forbid it; the model learns what it was."""
        told = EDITED.format(what=what)
        try:
            output = await self._run_allowed(params, replace(context, granted=await self.wanted(params, context)))
        except ToolError as error:
            raise ToolError(f"{told}\n{error}") from error
        about = f"changed by the user; {output.description}"
        return replace(output, data=f"{told}\n{output.data}", description=about, audit="edited")

    async def _run_allowed(self, params: P, context: ToolContext) -> ToolOutput:
        timeout = asyncio.timeout(self.timeout)
        try:
            async with timeout:
                await self.prepare(params, context)
                output = await self.execute(params, context)
        except TimeoutError:
            if not timeout.expired():
                raise
            raise ToolError(f"{self.name} was stopped: it took longer than {self.timeout:g} seconds") from None
        return _with_unseen_counted(await self.finish(output, context))


@cache
def all_tools() -> Mapping[str, Tool[Any]]:
    """Every tool in this package, by name."""
    found: dict[str, Tool[Any]] = {}
    for module in pkgutil.iter_modules(tools.__path__, f"{tools.__name__}."):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, Tool) and value.__module__ == module.name != __name__:
                found[value.name] = value()
    return dict(sorted(found.items()))


def _takes(schema: Mapping[str, Any]) -> str:
    """The names of all arguments, and of those in lists of objects."""
    listed = {name: it for name, it in schema["properties"].items() if "properties" in it.get("items", {})}
    inner = {name: it["items"]["properties"] for name, it in listed.items()}
    each = (f"each of {name} takes {', '.join(known)}" for name, known in inner.items())
    return "; ".join((f"It takes {', '.join(schema['properties'])}", *each))


def _with_unseen_counted(output: ToolOutput) -> ToolOutput:
    """Characters that people cannot see stay, since edits are exact; the model learns that nobody wrote them to it."""
    count = 0 if output.data.isascii() else sum(unicodedata.category(it) == "Cf" for it in output.data)
    return replace(output, data=f"{output.data}\n{UNSEEN.format(count=count)}") if count else output


def _plain(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Without titles, references, lower bounds and defaults that are nothing, and `anyOf: [X, null]` as X: an argument
    that is left out is null enough, and nobody counts lines below zero."""
    if is_list(schema):
        return [_plain(item, definitions) for item in schema]
    if not is_object(schema):
        return schema
    if "$ref" in schema:
        return _plain(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    variants = [item for item in schema.get("anyOf", ()) if item != {"type": "null"}]
    if len(variants) == 1:
        return _plain({**variants[0], **_without(schema, "anyOf", "default")}, definitions)
    return {
        key: {name: _plain(value, definitions) for name, value in inner.items()}
        if key == "properties"
        else _plain(inner, definitions)
        for key, inner in schema.items()
        if not (key == "title" and isinstance(inner, str)) and (key != "default" or inner) and key != "minimum"
    }


def _without(schema: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in keys}
