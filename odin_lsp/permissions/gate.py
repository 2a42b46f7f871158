"""What only the user can allow: shown exactly as it is, asked for once, and good for nothing but what was shown."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.config import Config
from odin_lsp.errors import PermissionDenied
from odin_lsp.modes import Mode
from odin_lsp.patterns import END, CommandPattern
from odin_lsp.permissions.approvals import Approval, Approvals, approval, new_session
from odin_lsp.permissions.rules import COMMANDS, Rules
from odin_lsp.ports import Answer, Asker, Option, Question

ONCE = Option("allow_once", "Allow once")
DENY = Option("deny", "Deny")
MAX_NAMED = 200
"""Characters of a command in a text for the model."""
CHANGED = "it is no longer what the user was shown; look at it again, and call it again if it is still needed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Want:
    """What a call needs the user's word for. Two that are equal are the same to the user."""

    tool: str
    title: str
    reason: str
    """Why it is asked."""
    what: str
    """Exactly what would be done, with everything visible: the command line, the URL."""
    mode: Mode
    cwd: str | None = None
    files: tuple[tuple[str, str], ...] = ()
    """What it would run, with a hash of the content."""
    pattern: str | None = None
    """What may be remembered: a command's first words, a host. None where that would allow too much."""
    editable: bool = False
    """Whether the user may change `what`."""
    server: str | None = None
    """Of an MCP server's tool: the id of the server."""


def exact(text: str) -> str:
    """With everything visible that could hide or mislead: control, format and unusual blank characters, escaped."""
    return "".join(
        it if it.isprintable() or it == "\n" else it.encode("unicode_escape", "surrogatepass").decode() for it in text
    )


async def _ask_always(_: Want) -> bool:
    return False


class Gate:
    """One session's; what was allowed for the session ends with it, and what was allowed in a mode stays in it."""

    def __init__(
        self,
        asker: Asker,
        config: Callable[[], Config] = Config.model_construct,
        workspace: Callable[[], Path | None] = lambda: None,
        saved: Approvals | None = None,
    ) -> None:
        self.asker = asker
        self._config = config
        self._workspace = workspace
        self._saved = saved or Approvals()
        self._session = new_session()
        self._unsaved: dict[str, Approval] = {}
        """What the user allowed and could not be stored, by id: it counts as long as the session."""
        self._decided: list[tuple[Want, str | None]] = []
        """This step's, decided together: each with the reason against it, if it was denied."""
        self.consult: Callable[[Want], Awaitable[bool]] = _ask_always
        """Whether the user need not be asked, because somebody has answered for them; raises `PermissionDenied`."""
        self._one_at_a_time = asyncio.Lock()
        self._rules: tuple[tuple[int, Path | None, tuple[str, ...]], Rules] | None = None

    def rules(self, mode: Mode) -> Rules:
        """The user's rules as they are now, and what the user no longer wants to be asked about."""
        config, workspace, approved = self._config(), self._workspace(), self.remembered(COMMANDS, mode)
        key = id(config), workspace, approved
        if self._rules is None or self._rules[0] != key:
            self._rules = key, Rules.of(config, root=workspace, approved=approved)
        return self._rules[1]

    def remembered(self, tool: str, mode: Mode, server: str | None = None) -> tuple[str, ...]:
        """The patterns that need no question in this mode. `server`: the id of the MCP server that the tool is of."""
        wanted = (tool, mode, server)
        here = (it.pattern for it in self._unsaved.values() if (it.tool, it.mode, it.server) == wanted)
        return (*here, *self._saved.patterns(tool, self._workspace(), mode, self._session, server))

    def approvals(self) -> tuple[Approval, ...]:
        """All that needs no question here, in any mode."""
        workspace = self._workspace()
        saved = (it for it in self._saved.all() if it.counts_in(workspace, self._session))
        return (*self._unsaved.values(), *saved)

    def revoke(self, approval_id: str) -> bool:
        """Ask about it again; whether it was allowed."""
        return self._unsaved.pop(approval_id, None) is not None or self._saved.remove(approval_id) is not None

    async def close(self) -> None:
        """The session ends, and with it what was allowed for it."""
        self._unsaved.clear()
        with suppress(OSError):  # then it ends with the process
            await asyncio.to_thread(self._saved.end, self._session)

    async def ask(self, want: Want) -> str | None:
        """Come back if the user allows it, with what they have put in the place of `want.what`, if they have;
        `PermissionDenied` otherwise. No answer is a no."""
        for index, (decided, against) in enumerate(self._decided):
            if decided == want:
                del self._decided[index]
                if against is not None:
                    raise PermissionDenied(against)
                return None
        if await self.consult(want):
            return None
        async with self._one_at_a_time:
            answer = await self.asker.ask(self._question(want))
        chosen = answer.option_ids[0] if answer and len(answer.option_ids) == 1 else ""
        edited = answer.command if answer and answer.command != want.what else None
        is_allowed = chosen in {option.id for option in self._options(want)} - {DENY.id}
        if not is_allowed or (edited is not None and not (want.editable and edited.strip())):
            raise PermissionDenied(_refusal(want, answer))
        await self._remember(want, chosen)
        return edited

    async def ask_together(self, wants: Sequence[Want]) -> None:
        """Have several things of one step decided at once. Each is still looked at when its turn comes."""
        self._decided.clear()
        listed = "\n\n".join(f"{number}. {_described(want)}" for number, want in enumerate(wants, 1))
        question = Question(
            question_id=uuid.uuid4().hex,
            kind="permission",
            title=f"Allow these {len(wants)} actions?",
            detail=listed,
            options=(
                Option(ONCE.id, "Allow all once"),
                Option("one_by_one", "Ask for each"),
                Option(DENY.id, "Deny all"),
            ),
            allow_text=True,
        )
        async with self._one_at_a_time:
            answer = await self.asker.ask(question)
        match answer.option_ids if answer else ():
            case (ONCE.id,):
                self._decided = [(want, None) for want in wants]
            case ("one_by_one",):
                pass
            case _:
                self._decided = [(want, _refusal(want, answer)) for want in wants]

    def forget_step(self) -> None:
        self._decided.clear()

    def _question(self, want: Want) -> Question:
        return Question(
            question_id=uuid.uuid4().hex,
            kind="permission",
            title=want.title,
            detail=_described(want),
            command=want.what if want.tool == COMMANDS else None,
            cwd=want.cwd,
            paths=tuple(path for path, _ in want.files),
            options=tuple(self._options(want)),
            allow_text=True,
            editable=want.editable,
        )

    def _options(self, want: Want) -> list[Option]:
        if want.pattern is None:
            return [ONCE, DENY]
        named = _named(want.tool, want.pattern)
        scopes = [Option("allow_session", f"Allow “{named}” in this session")]
        if self._workspace() is not None:
            scopes.append(Option("allow_workspace", f"Always allow “{named}” in this workspace"))
        return [ONCE, *scopes, Option("allow_always", f"Always allow “{named}”"), DENY]

    async def _remember(self, want: Want, chosen: str) -> None:
        if want.pattern is None:
            return
        match chosen:
            case "allow_session":
                await self._save(want, want.pattern, None, self._session)
            case "allow_workspace" if (workspace := self._workspace()) is not None:
                await self._save(want, want.pattern, workspace)
            case "allow_always":
                await self._save(want, want.pattern, None)
            case _:
                pass

    async def _save(self, want: Want, pattern: str, workspace: Path | None, session: str | None = None) -> None:
        """Where all can see it; where that cannot be, for this session."""
        try:
            await asyncio.to_thread(self._saved.add, want.tool, pattern, workspace, want.mode, session, want.server)
        except OSError as error:
            kept = approval(want.tool, pattern, None, want.mode, self._session, want.server)
            self._unsaved[kept.id] = kept
            if session is None:
                self.asker.notify("warning", f"Could not save the approval ({error}). It applies to this session only.")


def _named(tool: str, pattern: str) -> str:
    """The pattern as people read it: what may be followed by more words says so."""
    if tool != COMMANDS:
        return pattern
    return pattern.removesuffix(f" {END}") if CommandPattern.of(pattern).exact else f"{pattern} …"


def _described(want: Want) -> str:
    place = f"in {want.cwd}" if want.cwd else ""
    runs = f"runs {', '.join(path for path, _ in want.files)}" if want.files else ""
    return "\n".join(filter(None, (want.what, place, runs, want.reason)))


def _refusal(want: Want, answer: Answer | None) -> str:
    """What was not allowed is this one call, not the tool."""
    said = f": {answer.text}" if answer and answer.text else ""
    if want.tool != COMMANDS:
        return f"the user did not allow this call of {want.tool}{said}; go on without it, and say what it was for"
    line = want.what.partition("\n")[0]
    named = line if line == want.what and len(line) <= MAX_NAMED else f"{line[:MAX_NAMED]}…"
    return (
        f"the user did not allow the command `{named}`{said}; other commands may still be run: find another way, or"
        " go on without it and say what it was for"
    )
