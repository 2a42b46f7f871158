"""What a workspace needs besides an editor: text, models, sessions. The server and the terminal make one each."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odin_lsp.agent.agent import Agent
from odin_lsp.agent.compaction import Compaction
from odin_lsp.agent.executor import Executor
from odin_lsp.agent.hooks import Hooks
from odin_lsp.agent.modes import mode_tools
from odin_lsp.agent.planner import Planner
from odin_lsp.agent.prompt import Instructions, Prompt
from odin_lsp.agent.small import small_model
from odin_lsp.agent.stream import EventStream
from odin_lsp.agent.turn import Progress
from odin_lsp.commands.session import SessionCommands, judged_by
from odin_lsp.config import Config
from odin_lsp.events import Emit, EventRecord, Notice
from odin_lsp.models import providers, selection
from odin_lsp.models.resilience import KeyPool, ResilientModel
from odin_lsp.permissions import protected
from odin_lsp.permissions.gate import Gate
from odin_lsp.permissions.outside import OutsideGate
from odin_lsp.ports import Editor
from odin_lsp.review.desk import ReviewDesk
from odin_lsp.review.drafts import Draft
from odin_lsp.review.saving import Saver
from odin_lsp.review.undo import UndoLog, take_back
from odin_lsp.sessions.session import Session
from odin_lsp.sessions.store import sessions_folder
from odin_lsp.tools.base import ToolContext, all_tools
from odin_lsp.values import adapter, to_wire
from odin_lsp.web.pages import Pages
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.shown import Shown


class Core:
    def __init__(
        self,
        roots: Sequence[Path],
        editor: Editor,
        config: Config,
        *,
        buffers: Buffers | None = None,
        secrets: Mapping[str, str] | None = None,
        hooks: Hooks | None = None,
        restricted: bool = False,
    ) -> None:
        self.config = config
        self.restricted = restricted
        self.stream = EventStream()
        self.files = Files(roots, buffers or Buffers(), FileCache(config.cache), config.files)
        self.search = Search(self.files)
        self._undo_log = UndoLog(lambda: self._sessions / "undo")
        self.desk = ReviewDesk(
            self.files, editor, lambda: (self.config.review, self.config.timeouts), protected.caution, self._undo_log
        )
        self._editor = editor
        self._secrets = secrets or {}
        self.pages = Pages(config.web, config.network, secrets=self._secrets.values())
        self._hooks = hooks or Hooks()
        self._keys = KeyPool()
        self._models: dict[str, ResilientModel] = {}
        self._agents: dict[str, Agent] = {}
        self._views: dict[str, _View] = {}
        self._current: str | None = None

    @property
    def selected(self) -> tuple[str, str]:
        """The planner's model and the small one."""
        return selection.choose(self.config, self._secrets)

    def agent(self, session_id: str | None = None) -> Agent:
        """The agent of that session, or of the current one."""
        wanted = session_id or self._current
        if wanted is None:
            return self._adopt(Session(self._sessions))
        if wanted not in self._agents:
            return self._adopt(Session.load(self._sessions, wanted))
        self._current = wanted
        return self._agents[wanted]

    def cancel(self, turn_id: str | None) -> bool:
        """End the turn, wherever it runs; without an id, that of the current session."""
        if turn_id is None:
            return self._current is not None and self.agent().cancel()
        return any(agent.cancel(turn_id) for agent in self._agents.values())

    def choose_models(self, model: str | None, small_model: str | None) -> None:
        for ref in filter(None, (model, small_model)):
            selection.split(ref)
        update = {"model": model or self.config.model, "small_model": small_model or self.config.small_model}
        self.config = self.config.model_copy(update=update)

    def reconfigure(self, config: Config) -> None:
        """New settings, from the next turn on."""
        self.config = config
        self.pages = Pages(config.web, config.network, secrets=self._secrets.values())
        self._models.clear()

    async def warm(self) -> None:
        """Do what takes time before anybody waits for it: import the configured SDK, connect, describe the tools."""
        await asyncio.to_thread(lambda: [adapter(EventRecord), *(tool.schema for tool in all_tools().values())])
        await self._model(self.selected[0]).warm()

    async def undo(self, turn_id: str | None) -> tuple[list[Path], list[tuple[Path, str]]]:
        """Take back what a turn did, or the last one."""
        return await take_back(self._undo_log, turn_id, self.desk.applier)

    def abort(self) -> None:
        for agent in self._agents.values():
            agent.abort()

    async def close(self) -> None:
        for agent in self._agents.values():
            await agent.close()
        for view in self._views.values():
            await view.commands.close()
        for model in self._models.values():
            await model.aclose()

    def state(self) -> dict[str, Any]:
        agent = self.agent()
        session = agent.session
        running = agent.running
        return {
            "mode": agent.mode,
            "messages": [to_wire(turn) for turn in session.turns],
            "queue": [to_wire(message) for message in agent.queue()],
            "executing": running is not None,
            "updates": list(running.progress.updates) if running else [],
            "subagents": [],
            "context": list(running.progress.message.context) if running else [],
            "instructions": self._view(session).instructions.text,
            "config": self.config.model_dump(by_alias=True, mode="json"),
            "cache": [
                {
                    "filePath": str(path),
                    "size": file.size,
                    "isModified": file.is_modified,
                    "cachedAt": file.cached_at,
                    "isTruncated": file.is_truncated,
                }
                for path, file in self.files.cache
            ],
            "cacheConfig": self.config.cache.model_dump(by_alias=True),
        }

    @property
    def _sessions(self) -> Path:
        return sessions_folder(self.files.roots[0] if self.files.roots else Path("/"))

    def _adopt(self, session: Session) -> Agent:
        self._agents[session.id] = Agent(session, self.stream, self._planner)
        self._current = session.id
        return self._agents[session.id]

    def _view(self, session: Session) -> "_View":
        if session.id not in self._views:
            gate = Gate(self._editor, lambda: self.config, lambda: next(iter(self.files.roots), None))
            self._views[session.id] = _View(
                Instructions.load(self.files.roots),
                Shown(),
                gate,
                OutsideGate(self._editor),
                SessionCommands(lambda: self.config, judged_by(gate.rules)),
            )
        return self._views[session.id]

    async def _planner(self, session: Session, progress: Progress, emit: Emit) -> Planner:
        mode = progress.message.mode
        view = self._view(session)
        if session.turns and Instructions.load(self.files.roots) != view.instructions:
            emit(Notice("info", "the project's instructions have changed; a new session will use them"))
        context = ToolContext(
            files=self.files,
            search=self.search,
            editor=self._editor,
            mode=mode,
            session_id=session.id,
            emit=emit,
            todos=session.todos,
            pages=self.pages,
            small=small_model(self._model(self.selected[1]), progress, emit),
            shown=view.shown,
            gate=view.gate,
            outside=view.outside,
            commands=view.commands,
            draft=Draft(self.desk, progress.review, view.shown),
            saver=Saver(
                self.files, self._editor, self.desk.applier, progress.review, view.shown, self.config.review.save
            ),
        )
        return Planner(
            model=self._model(self.selected[0]),
            prompt=Prompt(mode, self.files.roots, view.instructions, view.shown),
            session=session,
            executor=Executor(mode_tools(mode, restricted=self.restricted), self._hooks, context),
            editor=self._editor,
            compaction=Compaction(context.small, lambda: _notes(session, progress)),
            limits=self.config.limits,
            emit=emit,
            progress=progress,
        )

    def _model(self, ref: str) -> ResilientModel:
        if ref not in self._models:
            refs = [ref, *(it for it in self.config.fallback_models if it != ref)]
            self._models[ref] = ResilientModel(
                [providers.candidates(it, self.config, self._secrets) for it in refs],
                lambda candidate: providers.connect(candidate, self.config),
                retries=self.config.retries,
                idle=self.config.timeouts.idle,
                pool=self._keys,
            )
        return self._models[ref]


def _notes(session: Session, progress: Progress) -> str:
    """What a summary must not lose."""
    todos = [f"- [{todo.status}] {todo.content} (id {todo.id})" for todo in session.todos]
    touched = [f"- {path}" for path in progress.review.touched]
    lines = [
        *(["Todo list:", *todos] if todos else []),
        *(["Files changed in this turn:", *touched] if touched else []),
    ]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _View:
    """What belongs to one session as long as the process lives."""

    instructions: Instructions
    """A snapshot: a prefix that changes in the middle of a conversation could not be cached."""
    shown: Shown
    gate: Gate
    outside: OutsideGate
    commands: SessionCommands
