"""Odin in a program of one's own: a workspace that is opened, used and closed."""

import asyncio
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

from odin_lsp import state_folder
from odin_lsp.agent.compaction import Shorten
from odin_lsp.agent.context import gathered
from odin_lsp.agent.core import Core
from odin_lsp.agent.hooks import Hook, Hooks
from odin_lsp.agent.live_session import LiveSession
from odin_lsp.agent.open_sessions import OpenSessions
from odin_lsp.agent.parts import Parts
from odin_lsp.agent.plans import PlanRun
from odin_lsp.agent.prompt import SystemPrompt, unchanged
from odin_lsp.agent.turn import UserMessage
from odin_lsp.config import Config
from odin_lsp.errors import RequestError
from odin_lsp.events import EventRecord
from odin_lsp.library.disk_editor import DiskEditor
from odin_lsp.library.guarded_editor import GuardedEditor
from odin_lsp.library.session import Session, Turn
from odin_lsp.models.base import Model
from odin_lsp.ports import Editor
from odin_lsp.project.project import Project, Told
from odin_lsp.review.undo import Undone, Wanted
from odin_lsp.tasks import Tasks
from odin_lsp.tools.base import Tool, all_tools


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
        hooks: Sequence[Hook] = (),
        system_prompt: SystemPrompt = unchanged,
        compact: Shorten | None = None,
    ) -> None:
        """`settings` are as in `odinconfig.json`, and win over all others. A model is named `provider/model[@effort]`,
        or is one of your own, which you close; it is the small one too if you give no other. `tools`: all that are
        offered, in place of `builtin_tools()`. `editor`: who answers questions and reviews changes."""
        own, own_small = _own(model), _own(small_model or model)
        if own and own_small and own is not own_small and own.ref == own_small.ref:
            raise RequestError(f"two models are named {own.ref!r}; give one of them another `ref`")
        self._running: dict[str, Turn] = {}
        self._editor = GuardedEditor(editor or DiskEditor(), self._running)
        flags = {**settings, **_named("model", model), **_named("smallModel", small_model)}
        self._project = Project(Told(roots=tuple(map(_folder, folders)), flags=flags), can_pick=False)
        self._core = Core(
            self._project,
            self._editor,
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
        for problem in (*self._project.now.problems, await asyncio.to_thread(state_folder.problem)):
            if problem is not None:
                self._editor.notify("warning", str(problem))
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
        """Go on with a session, the last one if none is named. If another Odin has it open, with a copy of it."""
        return self._session(await self._sessions.open(session_id))

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
        live = await self._sessions.take_up(session_id or core.plans.session_of(document))
        run = PlanRun(core.plans, document, chosen, turn_id, core.stream.emitter(turn_id, live.session.id))
        context = gathered((document.context,), core.files).texts
        message = UserMessage(turn_id=turn_id, text=run.message, mode="edit_mode", context=context, todos=run.todos)
        following = AsyncExitStack()
        await following.enter_async_context(run.followed(core.stream))
        turn = Turn(lambda: live.turns.start(message), live, core.stream, self._running, partial=partial)
        self._ticking.begin(_close_after(turn, following))
        return turn

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

    def _session(self, live: LiveSession) -> Session:
        return Session(live, self._core.sessions, self._core.stream, self._running)


def builtin_tools() -> tuple[Tool[Any], ...]:
    """Those that Odin offers by itself, sorted by name."""
    return tuple(all_tools().values())


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
