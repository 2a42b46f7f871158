"""Odin in a program of one's own: a workspace that is opened, used and closed."""

import asyncio
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

from odin_lsp.agent.compaction import Shorten
from odin_lsp.agent.context import gathered
from odin_lsp.agent.core import Core
from odin_lsp.agent.hooks import Hook, Hooks
from odin_lsp.agent.live_session import LiveSession
from odin_lsp.agent.open_sessions import OpenSessions
from odin_lsp.agent.own_commands import SlashCommand
from odin_lsp.agent.parts import Parts
from odin_lsp.agent.plans import PlanRun, Step, steps_of
from odin_lsp.agent.prompt import SystemPrompt, unchanged
from odin_lsp.agent.turn import UserMessage
from odin_lsp.config import Config
from odin_lsp.errors import RequestError
from odin_lsp.events import EventRecord
from odin_lsp.extensions.mcp_files import McpServer
from odin_lsp.library.disk_editor import DiskEditor
from odin_lsp.library.guarded_editor import GuardedEditor
from odin_lsp.library.session import Session, Turn
from odin_lsp.models import selection
from odin_lsp.models.base import Model
from odin_lsp.models.reference import Effort
from odin_lsp.ports import Decision, Editor, Receipt
from odin_lsp.project.opening_notices import opening_notices
from odin_lsp.project.project import Project, Told
from odin_lsp.records import Todo
from odin_lsp.review.undo import Undone, Wanted
from odin_lsp.sessions import listing
from odin_lsp.sessions.listing import SessionSummary
from odin_lsp.tasks import Tasks
from odin_lsp.tools.base import Tool, all_tools
from odin_lsp.workspace import disk
from odin_lsp.workspace.buffers import Buffers


class Workspace:
    """Use it as `async with Workspace(".") as workspace:`. What still runs when that is left is cancelled."""

    def __init__(
        self,
        *folders: Path | str,
        settings: Mapping[str, Any] = MappingProxyType({}),
        model: str | Model | None = None,
        small_model: str | Model | None = None,
        tools: Iterable[Tool[Any]] | None = None,
        editor: Editor | None = None,
        buffers: Buffers | None = None,
        mcp_servers: Iterable[McpServer] = (),
        extensions: bool = True,
        hooks: Sequence[Hook] = (),
        system_prompt: SystemPrompt = unchanged,
        compact: Shorten | None = None,
    ) -> None:
        """`settings` are as in `odinconfig.json`, and win over all others. A model is named `provider/model[@effort]`,
        or is one of your own, which you close; it is the small one too if you give no other. `tools`: all that are
        offered, in place of `builtin_tools()`. `editor`: who answers questions and reviews changes. `buffers`: the
        documents that are open there. `mcp_servers`: besides those that the user has set up. `extensions`: whether what
        the user and the project plug in is used."""
        own, own_small = _own(model), _own(small_model or model)
        if own and own_small and own is not own_small and own.ref == own_small.ref:
            raise RequestError(f"two models are named {own.ref!r}; give one of them another `ref`")
        self._running: dict[str, Turn] = {}
        self._editor = GuardedEditor(editor or DiskEditor(), self._running)
        self._flags = {**settings, **_named("model", model), **_named("smallModel", small_model)}
        told = Told(
            roots=tuple(map(_folder, folders)),
            flags=self._flags,
            servers=tuple(mcp_servers),
            extensions=extensions,
        )
        self._project = Project(told, can_pick=False)
        self._core = Core(
            self._project,
            self._editor,
            buffers=buffers,
            parts=Parts(
                model=own,
                small_model=own_small,
                tools=None if tools is None else _by_name(tools),
                hooks=Hooks(hooks),
                system_prompt=system_prompt,
                shorten=compact,
            ),
        )
        self._core.stream.subscribe(self._editor.follow)
        self._ticking = Tasks()
        self._is_open = False

    async def __aenter__(self) -> "Workspace":
        for it in await asyncio.to_thread(opening_notices, self._project):
            self._editor.notify(it.level, it.message)
        self._is_open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_open = False
        running = tuple(self._running.values())
        for turn in running:
            turn.cancel()
        await asyncio.gather(*(turn.outcome() for turn in running), return_exceptions=True)
        await self._ticking.settled()
        await self._core.close()

    @property
    def config(self) -> Config:
        """The settings that are in force."""
        return self._project.now.config

    @property
    def session(self) -> Session:
        """The one that was begun or resumed last; a new one, if there is none yet."""
        return self._session(self._sessions.current or self._sessions.begin())

    def begin(self, title: str | None = None) -> Session:
        """A new session."""
        return self._session(self._sessions.begin(title))

    async def resume(self, session_id: str | None = None) -> Session:
        """Go on with a session, the last one if none is named; the beginning of its id is enough. If another Odin has
        it open, with a copy of it."""
        return self._session(await self._sessions.open(await self._named(session_id)))

    async def carry_out(
        self,
        plan: Path,
        steps: Sequence[int] | None = None,
        *,
        session_id: str | None = None,
        partial: bool = False,
    ) -> Turn:
        """Carry out the steps of a plan's document, all that are open if none are named, and tick them. In the session
        of the plan, unless another is named."""
        core, turn_id = self._core, uuid.uuid4().hex
        document = core.plans.read(plan.absolute().as_uri())
        chosen = document.chosen(steps)
        live = await self._sessions.take_up(await self._named(session_id) or core.plans.session_of(document))
        run = PlanRun(core.plans, document, chosen, turn_id, core.stream.emitter(turn_id, live.session.id))
        context = gathered((document.context,), core.files).texts
        message = UserMessage(
            turn_id=turn_id,
            text=run.words,
            mode="edit_mode",
            is_typed=False,
            context=context,
            meaning=(run.meaning,),
            todos=run.todos,
        )
        following = AsyncExitStack()
        await following.enter_async_context(run.followed(core.stream))
        turn = Turn(lambda: live.turns.start(message), live, core.stream, self._running, partial=partial)
        self._ticking.begin(_close_after(turn, following))
        return turn

    def steps(self, plan: Path) -> tuple[Todo, ...]:
        """The steps of a plan's document as a list of what is to be done; those that are skipped need not be."""
        return _todos(self._core.plans.read(plan.absolute().as_uri()).steps)

    @property
    def model(self) -> str:
        """The one that answers: `provider/model[@effort]`."""
        return self._core.models.selected

    @property
    def models(self) -> tuple[str, ...]:
        """Those that there is a key for, and what accounts have besides, as far as that is known."""
        return tuple(it for it in self._core.models.names if "@" not in it)

    async def model_names(self) -> tuple[str, ...]:
        """The same; who is attached has to ask for them."""
        return self.models

    def efforts(self, model: str) -> tuple[Effort, ...]:
        """What may stand behind the `@` of a model."""
        return selection.efforts([model]).get(model, ())

    def select(self, model: str) -> None:
        """Have this one answer from the next turn on, as long as the workspace is open."""
        selection.named(model)
        self._flags = {**self._flags, "model": model}
        self._project.tell(flags=self._flags)

    async def decide(self, *decisions: Decision) -> tuple[Receipt, ...]:
        """Decide on hunks while `review` is still being answered: what is accepted is made at once, and the receipts
        say what has become of it. Once all are decided nobody waits for the answer, and `review` is cancelled."""
        return tuple(await self._core.desk.decide(decisions))

    async def sessions(self, most: int = 100) -> list[SessionSummary]:
        """Those of this workspace, the newest first."""
        return await self._sessions.listed(None, most)

    async def files(self) -> list[str]:
        """All that the model may find, as it names them; what `.gitignore` excludes is left out."""
        return await self._core.files_shown()

    async def slash_commands(self) -> tuple[SlashCommand, ...]:
        """What `/name` may stand for at the beginning of a message."""
        return await asyncio.to_thread(self._core.own.listed)

    def add_tool(self, tool: Tool[Any]) -> None:
        """Offer one more tool, from the next turn on."""
        self._core.add_tool(tool)

    def subscribe(self, subscriber: Callable[[EventRecord], None]) -> Callable[[], None]:
        """Hear of all events of all sessions, at once and in order, those outside of turns included; call the result to
        stop. What `subscriber` raises is logged, and changes nothing."""
        return self._core.stream.subscribe(subscriber)

    async def undo(self, turn_id: str | None = None, path: Path | None = None) -> Undone:
        """Revert what a turn has changed, or the last one; only in one file, if that is named. With the `undo_id` of an
        earlier undo: bring that back."""
        return await self._core.undo(turn_id, Wanted(path))

    @property
    def _sessions(self) -> OpenSessions:
        if not self._is_open:
            raise RequestError("the workspace is not open; use it in `async with`")
        return self._core.sessions

    async def _named(self, beginning: str | None) -> str | None:
        return await asyncio.to_thread(listing.named, self._sessions.folder, beginning) if beginning else None

    def _session(self, live: LiveSession) -> Session:
        core = self._core
        return Session(live, core.sessions, core.stream, self._running, core.own, core.files)


def plan_steps(plan: Path) -> tuple[Todo, ...]:
    """The same of a document of another workspace, as it is on disk."""
    return _todos(steps_of(disk.read_text(plan).text))


def builtin_tools() -> tuple[Tool[Any], ...]:
    """Those that Odin offers by itself, sorted by name."""
    return tuple(all_tools().values())


def _todos(steps: Iterable[Step]) -> tuple[Todo, ...]:
    return tuple(Todo(f"step-{it.number}", it.title, "pending" if it.status == "open" else "completed") for it in steps)


async def _close_after(turn: Turn, following: AsyncExitStack) -> None:
    async with following:
        await turn.outcome()


def _folder(name: Path | str) -> Path:
    if not (path := Path(name)).is_dir():
        raise RequestError(f"{name} is not a folder")
    return path


def _named(setting: str, model: str | Model | None) -> dict[str, str]:
    return {setting: model} if isinstance(model, str) else {}


def _own(model: str | Model | None) -> Model | None:
    return None if isinstance(model, str) else model


def _by_name(tools: Iterable[Tool[Any]]) -> dict[str, Tool[Any]]:
    found: dict[str, Tool[Any]] = {}
    for tool in tools:
        if found.setdefault(tool.name, tool) is not tool:
            raise RequestError(f"two tools are named {tool.name!r}; leave one of them out")
    return found
