"""What a person has typed: words for the model, or `/name` of something that Odin does itself, without a model."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast, get_args

from odin_lsp.agent.live_session import LiveSession
from odin_lsp.agent.mcp_words import offered_prompts
from odin_lsp.agent.open_sessions import Seating
from odin_lsp.agent.slash import named
from odin_lsp.agent.turn import Compact, Errand, OwnAct, RunCommand
from odin_lsp.config import roles
from odin_lsp.errors import RequestError
from odin_lsp.extensions.builtin_commands import BUILTIN, BuiltinCommand, How, is_taken
from odin_lsp.extensions.places import SKILL
from odin_lsp.extensions.registry import Extensions
from odin_lsp.modes import Mode
from odin_lsp.permissions.foreign_names import server_prefix
from odin_lsp.sessions.export import Format, export_to, exported_path
from odin_lsp.values import Value

if TYPE_CHECKING:
    from odin_lsp.agent.core import Core

SHOWN_SESSIONS = 10
EXACT = "exact"
"""Behind `/context`: have the provider count."""
UNUSED = {
    "untrusted": "is brought by this folder, which you do not trust; it is not used",
    "off": "is switched off, by the settings or for now; `/extensions` lists it",
}
ROLE_OF_ALL = (
    "the role is the same for all sessions; switch it in the editor that has this folder open, or in your settings"
)
ASKING_ACCOUNTS = "Your accounts are being asked for more; `/model` lists them in a few seconds."
_WORD = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlashCommand(Value):
    """What `/name` stands for at the beginning of a message."""

    name: str
    kind: Literal["builtin", "command", "skill", "prompt"]
    """Of Odin; of a file; a skill; of an MCP server."""
    description: str
    hint: str = ""
    """What may follow the name."""
    how: How = "says"
    """Who does it when it is sent as a message. `answer`: Odin, and its words are the answer. `says`: the model.
    `mode`: the model, in the mode of that name. `session`: Odin; it changes the session, so a front end with a view of
    it does the same by `command`. `person`: nobody; the front end asks its user, and uses `command`."""
    command: str | None = None
    """The command that does the same."""
    source: str | None = None
    """The path of its file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    text: str
    mode: Mode
    own: BuiltinCommand | None = None
    """What Odin does itself."""
    arguments: str = ""

    @property
    def is_apart(self) -> bool:
        """It is not done in a turn."""
        return self.own is not None and self.own.how == "session"


class OwnCommands:
    def __init__(self, core: "Core") -> None:
        self._core = core
        self._acts: Mapping[str, Callable[[LiveSession, str], Awaitable[str]]] = {
            "help": self._help,
            "undo": self._undo,
            "export": self._export,
            "model": self._model,
            "role": self._role,
            "context": self._context,
            "cost": self._cost,
            "permissions": self._permissions,
            "extensions": self._extensions,
        }

    def listed(self) -> tuple[SlashCommand, ...]:
        """All that there are, by name within their kinds. This reads files."""
        return tuple(_listed(self._core.project.now.extensions))

    async def prompts(self) -> tuple[SlashCommand, ...]:
        """Those of MCP servers that are ready."""
        found = await offered_prompts(self._core.mcp)
        return tuple(SlashCommand(name=name, kind="prompt", description=it, hint=hint) for name, it, hint in found)

    def understood(self, text: str, mode: Mode) -> Typed:
        """What was typed in a mode; `RequestError` if it looks like a command and is none. This reads files."""
        found = named(text)
        if found is None:
            return Typed(text=text, mode=mode)
        name, arguments = found
        own = BUILTIN.get(name)
        if own is None or (own.how == "says" and name in self._core.project.now.extensions.commands):
            self._check(name)
            return Typed(text=text, mode=mode)
        match own.how:
            case "mode" if not arguments:
                raise RequestError(f"say what you want behind it: /{name} {own.hint}")
            case "mode":
                return Typed(text=arguments, mode=own.mode or mode)
            case "says":
                return Typed(text=text, mode=own.mode or mode)
            case "person":
                raise RequestError(
                    f"/{name} is for you to decide, not for a message: use the command of your editor, or"
                    f" `odin-lsp permissions {name}`"
                )
            case "answer" | "session":
                return Typed(text=text, mode=mode, own=own, arguments=arguments)

    def errand(self, live: LiveSession, typed: Typed, *, decides_for_all: bool = True) -> Errand | None:
        """What is done in place of asking the model, if anything is. `decides_for_all`: the models and the role that
        are picked are those of all sessions."""
        if typed.own is None:
            return RunCommand.of(typed.text)
        if typed.own.name == "compact":
            return Compact(typed.arguments)
        own = {} if decides_for_all else {"model": self._own_model, "role": self._shown_role}
        act = own.get(typed.own.name) or self._acts[typed.own.name]
        return OwnAct(lambda: act(live, typed.arguments))

    async def apart(self, typed: Typed, session_id: str | None, seat: Seating) -> tuple[LiveSession, str]:
        """Do what changes the session itself; the one that it is now, and what to say."""
        match typed.own.name if typed.own else "":
            case "new":
                live = seat.begin(typed.arguments or None)
                return live, f"This is a new session: {live.session.title}."
            case "clear":
                live = await seat.existing(session_id)
                live.clear()
                return live, "All that was said in this session is forgotten."
            case "resume" if typed.arguments:
                live = await seat.open(typed.arguments)
                return live, f"This is the session {live.session.title} again."
            case "resume":
                found = await self._core.sessions.listed(None, SHOWN_SESSIONS)
                lines = [f"- `/resume {it.session_id}`: {it.title}" for it in found]
                return await seat.take_up(session_id), "\n".join(lines) or "There is no session yet."
            case name:
                raise RequestError(f"/{name} is not done apart from turns")

    def _check(self, name: str) -> None:
        """A name that nobody has is a mistake, unless it is that of a file: `/etc is what?`"""
        extensions = self._core.project.now.extensions
        is_prompt = any(name.startswith(f"{server_prefix(it)}__") for it in extensions.servers)
        if is_prompt or name in _names(extensions) or Path(f"/{name}").exists():
            return
        unused = next((it for it in extensions.listed if it.kind in ("command", "skill") and it.name == name), None)
        if unused is not None and unused.state in UNUSED:
            raise RequestError(f"/{name} {UNUSED[unused.state]}")
        close = get_close_matches(name, [*BUILTIN, *_names(extensions)], n=1)
        instead = f"did you mean /{close[0]}?" if close else "/help lists those that there are"
        raise RequestError(f"there is no command /{name}; {instead}")

    async def _help(self, _live: LiveSession, _arguments: str) -> str:
        found = await asyncio.to_thread(self.listed)
        return "\n".join(f"- `{f'/{it.name} {it.hint}'.strip()}`: {it.description}" for it in found)

    async def _undo(self, _live: LiveSession, turn_id: str) -> str:
        undone, shown = await self._core.undo(turn_id or None), self._core.files.shown
        restored = [f"- restored: `{shown(path)}`" for path in undone.restored]
        kept = [f"- kept: `{shown(it.path)}`: {it.reason}" for it in undone.kept]
        again = ["", f"To bring it back: `/undo {undone.undo_id}`"] if undone.undo_id else []
        return "\n".join([*restored, *kept, *again]) or "There is nothing to undo."

    async def _export(self, live: LiveSession, arguments: str) -> str:
        words = _WORD.split(arguments, maxsplit=1) if arguments else []
        is_named = bool(words) and words[0] in get_args(Format)
        form = cast("Format", words.pop(0)) if is_named else "markdown"
        folder, session_id = self._core.sessions.folder, live.session.id
        place = (self._core.project.now.root or Path.home()) / words[0] if words else None
        path = place or exported_path(folder, session_id, form)
        await asyncio.to_thread(export_to, folder, session_id, form, path, is_own=place is None)
        return f"The session is in {path}."

    async def _model(self, _live: LiveSession, ref: str) -> str:
        models = self._core.models
        if ref:
            self._core.pick({"model": ref})
            return f"The model is {models.selected} now."
        is_asking, told = models.accounts.begin(), models.accounts.known
        others = [f"- `/model {it}`" for it in models.names if it != models.selected and "@" not in it]
        problems = [f"- {it.title}: {it.problem}" for it in told if it.problem]
        more = ["", ASKING_ACCOUNTS] if is_asking else []
        head = f"The model is {models.selected}. {'Others:' if others else 'No others are known.'}"
        return "\n".join([head, *others, *problems, *more])

    async def _own_model(self, live: LiveSession, ref: str) -> str:
        if not ref:
            return await self._model(live, "")
        self._core.pick_for(live, ref)
        return f"The model of this session is {ref} now. Others keep theirs."

    async def _shown_role(self, live: LiveSession, name: str) -> str:
        if name:
            raise RequestError(ROLE_OF_ALL)
        return await self._role(live, "")

    async def _role(self, _live: LiveSession, name: str) -> str:
        if name:
            self._core.switch_role(name)
            return f"The role is {name} now."
        config = self._core.project.now.config
        known = [f"- `/role {name}`: {it.description}" for name, it in roles.known(config).items()]
        return "\n".join([f"The role is {config.role}.", *known])

    async def _context(self, live: LiveSession, text: str) -> str:
        exact, _, said = text.partition(" ")
        is_exact = exact == EXACT
        sent = await self._core.preview(live.session.id, None, said if is_exact else text, exact=is_exact)
        kinds = {"tool": "tools", "system": "system prompt and instructions", "message": "messages"}
        sums = ((label, sum(it.tokens for it in sent.parts if it.kind == kind)) for kind, label in kinds.items())
        lines = [f"- {label}: {tokens:,}" for label, tokens in sums]
        about = f"The next message would send about {sent.tokens:,} of {sent.context_limit:,} tokens to {sent.model}:"
        if sent.counted is not None:
            lines += ["", f"Its provider counts {sent.counted:,} tokens."]
        elif sent.not_counted:
            lines += ["", f"There is no exact count: {sent.not_counted}."]
        return "\n".join([about, *lines])

    async def _cost(self, live: LiveSession, _arguments: str) -> str:
        used = live.session.usage
        return (
            f"This session has cost ${used.cost_usd:.4f}: {used.input_tokens:,} tokens in,"
            f" {used.cache_read_tokens:,} from the cache, {used.cache_write_tokens:,} into it,"
            f" {used.output_tokens:,} out."
        )

    async def _permissions(self, live: LiveSession, _arguments: str) -> str:
        allowed = await asyncio.to_thread(live.scope.gate.approvals)
        lines = [f"- {it.tool} `{it.pattern}` ({it.mode.removesuffix('_mode')})" for it in allowed]
        return "\n".join(lines) or "Nothing is allowed without a question."

    async def _extensions(self, _live: LiveSession, _arguments: str) -> str:
        found = await asyncio.to_thread(lambda: self._core.project.now.extensions)
        lines = [f"- {it.kind} {it.name}: {it.problem or it.state} ({it.source})" for it in found.listed]
        return "\n".join(lines) or "Nothing is plugged in."


def _names(extensions: Extensions) -> set[str]:
    return {*extensions.commands, *(name for name, it in extensions.skills.items() if it.for_user)}


def _listed(extensions: Extensions) -> Iterator[SlashCommand]:
    own = [it for it in BUILTIN.values() if is_taken(it.name) or it.name not in extensions.commands]
    for it in own:
        yield SlashCommand(
            name=it.name, kind="builtin", description=it.description, hint=it.hint, how=it.how, command=it.command
        )
    for name, command in sorted(extensions.commands.items()):
        yield SlashCommand(
            name=name,
            kind="command",
            description=command.description,
            hint=command.argument_hint,
            source=str(command.source) if command.source else None,
        )
    for name, skill in sorted(extensions.skills.items()):
        if skill.for_user and name not in extensions.commands:
            yield SlashCommand(
                name=name,
                kind="skill",
                description=skill.description,
                hint=skill.argument_hint,
                source=str(skill.folder / SKILL),
            )
