"""A conversation on a terminal. All that it does it does by the library, so that it could be attached to a workspace
that another process has open."""

import asyncio
import hashlib
import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from odin_lsp import state_folder
from odin_lsp.display import shown_line
from odin_lsp.errors import OdinError, RequestError, SessionBusy
from odin_lsp.events import EventRecord, TurnFinished
from odin_lsp.modes import MODES, Mode
from odin_lsp.printing import say
from odin_lsp.tasks import Tasks, run_to_end
from odin_lsp.terminal.answering import Answering, Policy
from odin_lsp.terminal.completing import Known, with_folders
from odin_lsp.terminal.line_editor import Keys, LineEditor, Views
from odin_lsp.terminal.opening import opened
from odin_lsp.terminal.person import Person
from odin_lsp.terminal.run import BAD_USAGE, EXIT_CODES
from odin_lsp.terminal.screen import Screen
from odin_lsp.terminal.seam import Session, Turn, Workspace

NO_TERMINAL = (
    "odin: chat needs a terminal that can move its cursor; without one, use `odin-lsp ask`, `plan` or `edit`, "
    "and `--session` to continue a session"
)
WELCOME = """\
Odin in {folder} · {model}
Enter sends · Alt-Enter: new line · Shift-Tab: mode · @file · /help · /exit"""
HINT = "Ctrl-D or /exit leaves"
STEERED = "sent to the running turn; the model reads it after its current step"
QUEUED = "waits for the end of the running turn"
STOP_FIRST = "a turn is running; stop it first, with Esc"
CUT_OFF = "The last turn was cut off. /continue resumes it."
LISTED = 10
OWN = (("exit", "", "Leave; the session is kept"),)
"""What only a terminal has."""
TICK = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    cwd: Path
    policy: Policy
    mode: Mode
    settings: dict[str, Any]
    resume: str | None
    """The beginning of an id; empty: the last session; `?`: one of a list; none: a new one."""
    attaches: bool = True
    """Whether a host that has the folder open may do it."""


def run(options: Options) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") in (None, "", "dumb"):
        say(NO_TERMINAL)
        return BAD_USAGE
    try:
        return run_to_end(_run(Chat(options), options))
    except OdinError as error:
        say(f"odin: {error}")
        return BAD_USAGE if isinstance(error, RequestError) else EXIT_CODES["failed"]


async def _run(chat: "Chat", options: Options) -> int:
    opening = opened(
        *(options.cwd, options.settings, options.policy, Person(say, chat.line.ask, lambda: True)),
        attaches=options.attaches,
        is_for_own=False,
    )
    async with opening as (workspace, answering), chat.line.on_screen():
        await chat.talk(workspace, answering)
    return 0


class Chat:
    def __init__(self, options: Options) -> None:
        """Before a loop runs: all keys are set up."""
        self._options = options
        self._mode: Mode = options.mode
        self._known = Known()
        self._screen = Screen()
        self._tasks = Tasks()
        keys = Keys(stop=self._stop, hint=lambda: say(HINT), switch_mode=self._switch_mode)
        views = Views(above=self._above, status=self._status)
        self.line = LineEditor(keys, views, lambda before: self._known.completed(before), _history_of(options.cwd))
        self._is_open = False
        """Whether there is a session yet."""
        self._workspace: Workspace
        self._session: Session

    async def talk(self, workspace: Workspace, answering: Answering) -> None:
        self._workspace = workspace
        answering.pause = self.line.suspended
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # on Windows
            for name in ("SIGTERM", "SIGHUP"):
                loop.add_signal_handler(getattr(signal, name), self.line.leave)
        say(WELCOME.format(folder=shown_line(str(self._options.cwd)), model=shown_line(workspace.model)))
        self._session = await self._opened()
        self._is_open = True
        workspace.subscribe(self._show)
        self._tasks.begin(self._learn())
        try:
            while (text := await self.line.message()) is not None and text.strip() not in ("/exit", "/quit"):
                if text.strip():
                    await self._take(text)
        finally:
            self._session.cancel()
            await self._tasks.close()
        if self._session.history:
            say(f"To continue: odin-lsp chat --resume {self._session.id[:12]}")

    async def _opened(self) -> Session:
        match self._options.resume:
            case None:
                return self._workspace.begin()
            case "?":
                return await self._chosen()
            case wanted:
                return await self._resumed(wanted or None)

    async def _chosen(self) -> Session:
        found = await self._workspace.sessions(LISTED)
        for number, it in enumerate(found, 1):
            count = f"{it.messages} message{'' if it.messages == 1 else 's'}"
            say(f"  {number}. {shown_line(it.title)} ({it.session_id[:12]}, {count})")
        while found:
            said = await self.line.ask(f"Which session? [1-{len(found)}, Enter for a new one]")
            if not said:
                break
            if said.isdecimal() and 1 <= int(said) <= len(found):
                return await self._resumed(found[int(said) - 1].session_id)
        return self._workspace.begin()

    async def _resumed(self, wanted: str | None) -> Session:
        session = await self._workspace.resume(wanted)
        say(f"Session: {shown_line(session.title)} ({session.id[:12]})")
        if last := session.last_turn:
            self._screen.print_exchange(last.body, last.answer_summary)
            if last.reason not in ("end_turn", "refused"):
                say(CUT_OFF)
        return session

    async def _take(self, text: str) -> None:
        self._screen.print_message(text, self._verb)
        try:
            await self._understand(text)
        except OdinError as error:
            say(f"odin: {error}")

    async def _understand(self, text: str) -> None:
        name, _, rest = text.strip().partition(" ")
        match name:
            case "/new" | "/resume" | "/clear" if self._session.is_busy:
                raise SessionBusy(STOP_FIRST)
            case "/new":
                self._session = self._workspace.begin(rest.strip() or None)
                say(f"New session: {shown_line(self._session.title)}")
            case "/clear":
                self._session.clear()
                say("The session is empty.")
            case "/resume":
                self._session = await (self._resumed(rest.strip()) if rest.strip() else self._chosen_again())
            case "/ask" | "/plan" | "/edit" if not rest.strip():
                self._mode = MODES[name[1:]]
            case _ if self._session.is_busy and not text.startswith(("/", "!")) and self._session.steer(text):
                say(STEERED)
            case _:
                if self._session.is_busy:
                    say(QUEUED)
                self._tasks.begin(self._watched(self._session.send(self._mode, text)))

    async def _chosen_again(self) -> Session:
        with self.line.suspended():
            return await self._chosen()

    async def _watched(self, turn: Turn) -> None:
        ended = asyncio.ensure_future(turn.outcome())
        while not ended.done():
            self.line.refresh()
            await asyncio.wait([ended], timeout=TICK)
        self.line.refresh()
        with suppress(asyncio.CancelledError):
            if (error := ended.exception()) is not None:
                say(f"odin: {error}")
        await self._learn()

    async def _learn(self) -> None:
        """What can be completed now."""
        commands = [(it.name, it.hint, it.description) for it in await self._workspace.slash_commands()]
        self._known = Known([*commands, *OWN], self._known.places, await self._workspace.model_names())
        is_first = not self._known.places
        with suppress(OdinError):  # whoever cannot search says so where it matters
            places = await asyncio.to_thread(with_folders, await self._workspace.files())
            self._known = replace(self._known, places=places)
        if is_first:
            self.line.complete_again()

    def _show(self, record: EventRecord) -> None:
        if record.session_id not in ("", self._session.id):
            return
        self._screen.print_settled(record)
        if not isinstance(record.event, TurnFinished):
            self.line.refresh()

    def _stop(self) -> bool:
        return self._is_open and self._session.cancel()

    def _switch_mode(self) -> None:
        modes = list(MODES.values())
        self._mode = modes[(modes.index(self._mode) + 1) % len(modes)]
        self.line.refresh()

    @property
    def _verb(self) -> str:
        return next(verb for verb, mode in MODES.items() if mode == self._mode)

    def _above(self) -> str:
        under_way = self._screen.under_way() if self._session.is_busy else ""
        return f"{under_way}{self._verb} › "

    def _status(self) -> str:
        usage = self._session.usage
        parts = [self._verb, self._workspace.model]
        if usage.cost_usd:
            parts.append(f"${usage.cost_usd:.4f}")
        if usage.context_limit:
            parts.append(f"context {usage.context_tokens / usage.context_limit:.0%}")
        parts.append(f"{self._screen.activity} · Esc stops, text steers" if self._session.is_busy else "ready")
        return f" {' · '.join(parts)} "


def _history_of(folder: Path) -> Path:
    return state_folder.folder() / "history" / f"{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}.jsonl"
