"""What a workspace needs besides an editor: text, models, sessions. The server and the terminal make one each."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic.alias_generators import to_camel

from odin_lsp.agent import named
from odin_lsp.agent.agent import Agent
from odin_lsp.agent.compaction import Compaction
from odin_lsp.agent.conversations import Conversations
from odin_lsp.agent.executor import Executor
from odin_lsp.agent.history import Conversation
from odin_lsp.agent.hooks import Hooks
from odin_lsp.agent.instructions import Instructions, NestedInstructions
from odin_lsp.agent.modes import mode_tools, tool_spec
from odin_lsp.agent.named import NamedAgent
from odin_lsp.agent.naming import Namer
from odin_lsp.agent.picks import Picks
from odin_lsp.agent.planner import Planner
from odin_lsp.agent.plans import Plans
from odin_lsp.agent.preview import ContextPreview, preview
from odin_lsp.agent.prompt import Prompt
from odin_lsp.agent.small import small_model
from odin_lsp.agent.stream import EventStream
from odin_lsp.agent.subagents import Subagents
from odin_lsp.agent.turn import Progress, Remark
from odin_lsp.commands.session import SessionCommands, judged_by
from odin_lsp.config import ENVIRONMENT, Config
from odin_lsp.errors import ModelError, RequestError, ToolError
from odin_lsp.events import Emit, EventRecord, Mode, Notice, Todo
from odin_lsp.messages import user
from odin_lsp.models import providers, selection
from odin_lsp.models.base import Model, Request
from odin_lsp.models.resilience import KeyPool, ResilientModel
from odin_lsp.models.selection import Role
from odin_lsp.permissions import protected
from odin_lsp.permissions.gate import Gate
from odin_lsp.permissions.outside import OutsideGate
from odin_lsp.ports import Editor
from odin_lsp.redaction import secrets_of, shown_url
from odin_lsp.review.desk import ReviewDesk
from odin_lsp.review.drafts import Draft
from odin_lsp.review.saving import Saver
from odin_lsp.review.undo import take_back
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.sessions.history import repair
from odin_lsp.sessions.memory import Memory, memory_folder
from odin_lsp.sessions.publish import Publisher
from odin_lsp.sessions.session import Session
from odin_lsp.sessions.store import sessions_folder
from odin_lsp.sessions.touched import touched_files
from odin_lsp.tools.base import AgentTask, Tool, ToolContext, all_tools
from odin_lsp.tools.memory import MemoryTool
from odin_lsp.values import adapter, to_wire
from odin_lsp.web.pages import Pages
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.shown import Shown

MAX_TOUCHED = 100
"""Files that a summary names."""


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
        is_trusted: Callable[[], bool] = lambda: False,
        can_pick: bool = True,
    ) -> None:
        self.config = config
        self.restricted = restricted
        self._is_trusted = is_trusted
        self.stream = EventStream()
        self.files = Files(roots, buffers or Buffers(), FileCache(config.cache), config.files)
        self.search = Search(self.files)
        self._undo_log = UndoLog(lambda: self._sessions / "undo", lambda: self.config.review)
        self.stream.subscribe(self._undo_log.follow)
        self.desk = ReviewDesk(
            self.files, editor, lambda: (self.config.review, self.config.timeouts), protected.caution, self._undo_log
        )
        self.plans = Plans(self.files, editor, self.desk.applier, lambda: self._sessions)
        self._notes = Memory(lambda: memory_folder(self._root))
        self._editor = editor
        self._secrets = secrets or {}
        self.pages = Pages(config.web, config.network, secrets=self._secrets.values())
        self._hooks = hooks or Hooks()
        self._keys = KeyPool()
        self._models: dict[str, ResilientModel] = {}
        self._can_pick = can_pick
        self._picks: dict[Path, Picks] = {}
        """By the first folder, which may become another."""
        self._views: dict[str, _View] = {}
        self._told: dict[str, Instructions] = {}
        """The project's, as the users of each session know them."""
        self._helpers: dict[str, Subagents] = {}
        """The latest of each session."""
        self.conversations = Conversations(
            lambda: self._sessions,
            lambda session: Agent(session, self.stream, self._planner, self.plans.keep),
            self.stream,
            lambda level, message: editor.notify(level, message),
        )
        self._namer = Namer(self._naming_model, self.conversations.session, self.stream.emitter)
        self.stream.subscribe(self._namer.follow)
        self._publisher: Publisher | None = None
        self._unsubscribe: Callable[[], None] = lambda: None
        self._publish()

    @property
    def selected(self) -> tuple[str, str]:
        """The planner's model and the small one."""
        return selection.choose(self.config, self._secrets, self.picked)

    @property
    def picked(self) -> Mapping[Role, str]:
        """Those of the two that the user picked, now or the last time."""
        return self.picks.in_force(self.config, self._secrets)

    @property
    def picks(self) -> Picks:
        if self._root not in self._picks:
            self._picks[self._root] = Picks(self._root, can_pick=self._can_pick)
        return self._picks[self._root]

    def agent(self, session_id: str | None = None) -> Agent:
        """The agent of that session, or of the current one."""
        return self.conversations.agent(session_id)

    def cancel(self, turn_id: str | None, agent_id: str | None = None) -> bool:
        """End the turn, wherever it runs; without an id, that of the current session. With `agent_id`: one helper."""
        if agent_id is not None:
            return any(
                it.cancel(agent_id) for it in self._helpers.values() if turn_id in (None, it.parent.message.turn_id)
            )
        if turn_id is None:
            return self.conversations.current is not None and self.conversations.current.cancel()
        return any(agent.cancel(turn_id) for agent in self.conversations)

    def steer(self, remark: Remark, turn_id: str | None, agent_id: str | None = None) -> bool:
        """Say something into a turn that runs, or to one of its helpers."""
        if agent_id is not None:
            return any(
                it.steer(agent_id, remark)
                for it in self._helpers.values()
                if turn_id in (None, it.parent.message.turn_id)
            )
        if turn_id is None:
            return self.conversations.current is not None and self.conversations.current.steer(remark)
        return any(agent.steer(remark, turn_id) for agent in self.conversations)

    @property
    def available_models(self) -> tuple[str, ...]:
        return selection.available(self.config, self._secrets)

    @property
    def running_model(self) -> str:
        """The one that answers: the selected one, or a fallback for it."""
        selected = self.selected[0]
        return self._models[selected].running if selected in self._models else selected

    def choose_models(self, model: str | None, small_model: str | None) -> None:
        """The user's pick; an empty one: as in the settings again."""
        named: Mapping[Role, str | None] = {"model": model, "small_model": small_model}
        for role, ref in named.items():
            if ref:
                selection.named(ref)
            if ref and role in self.config.fixed:
                variable = next(name for name, key in ENVIRONMENT.items() if key == to_camel(role))
                raise RequestError(f"{variable} is set, which goes before what you pick; unset it first")
        self.picks.pick({role: ref for role, ref in named.items() if ref is not None}, self.config)

    def reconfigure(self, config: Config) -> None:
        """New settings, from the next turn on."""
        self.config = config
        self.files.change_rules(config.files)
        self.pages = Pages(config.web, config.network, secrets=self._secrets.values())
        self._models.clear()
        self._publish()

    async def warm(self) -> None:
        """Do what takes time before anybody waits for it: import the configured SDK, connect, describe the tools."""
        await asyncio.to_thread(lambda: [adapter(EventRecord), *(tool.schema for tool in all_tools().values())])
        await self._model(self.selected[0]).warm()

    async def undo(self, turn_id: str | None) -> tuple[list[Path], list[tuple[Path, str]]]:
        """Take back what a turn did, or the last one."""
        return await take_back(self._undo_log, turn_id, self.desk.applier)

    def abort(self) -> None:
        for agent in self.conversations:
            agent.abort()

    async def close(self) -> None:
        for agent in self.conversations:
            await agent.close()
        await self._namer.close()
        if self._publisher is not None:
            await self._publisher.close()
        self.conversations.close()
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
            "earlierMessages": session.earlier_turns,
            "queue": [to_wire(message) for message in agent.queue()],
            "executing": running is not None,
            "updates": list(running.progress.updates) if running else [],
            "subagents": [to_wire(it.record) for helpers in self._helpers.values() for it in helpers.helpers.values()],
            "earlierSubagents": [to_wire(it) for it in session.subagents.values() if it.ended_at is not None],
            "todos": [to_wire(todo) for todo in session.todos],
            "usage": to_wire(session.usage),
            "context": list(running.progress.message.context) if running else [],
            "instructions": self._view(session).instructions.text,
            "instructionFiles": [
                {"path": it.path, "size": it.size, "isCut": it.is_cut} for it in self._view(session).instructions.files
            ],
            "config": _shown_config(self.config.model_copy(update={**self.picked})),
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
            "models": [to_wire(model.status()) for model in self._models.values()],
        }

    @property
    def _sessions(self) -> Path:
        return sessions_folder(self._root)

    @property
    def _root(self) -> Path:
        return self.files.roots[0] if self.files.roots else Path("/")

    @property
    def _memory(self) -> Memory | None:
        return self._notes if self.config.memory else None

    def _tools(self, mode: Mode, *, subagent: bool = False) -> Mapping[str, Tool[Any]]:
        tools = mode_tools(mode, subagent=subagent, restricted=self.restricted)
        return {name: tool for name, tool in tools.items() if self._memory or name != MemoryTool.name}

    def context(self, session_id: str | None, mode: Mode, text: str) -> ContextPreview:
        """What would be sent if the user said `text` now."""
        session = self.agent(session_id).session
        view = self._view(session)
        prompt = Prompt(mode, self.files.roots, view.instructions, view.shown, memory=self._memory)
        request = Request(
            prompt.system,
            tuple(repair([*session.messages, user(text, prompt.opening(session))])),
            tuple(map(tool_spec, self._tools(mode).values())),
        )
        return preview(request, self.selected[0], session_id=session.id, mode=mode, spent=session.usage)

    def _publish(self) -> None:
        """To where the settings say now."""
        old, settings = self._publisher, self.config.publish
        if old is not None and old.settings != settings:
            old.stop()
            self._unsubscribe()
            self._publisher = None
        if self._publisher is None and settings.redis:
            self._publisher = Publisher(settings, {*self._secrets.values(), *secrets_of(os.environ)})
            self._unsubscribe = self.stream.subscribe(self._publisher)

    def _naming_model(self) -> Model | None:
        """`None` where nobody wants titles, or nobody could think of one, or a script is about other things."""
        selected, small = self.selected
        if not self.config.titles or small.startswith("offline/") or (small == selected and "scripted/" in small):
            return None
        return self._model(small)

    def _view(self, session: Session) -> "_View":
        if session.id not in self._views:
            agents: Mapping[str, NamedAgent] = named.load(self._root) if self._may_be_asked_for_more() else {}
            self._views[session.id] = self._new_view(Instructions.load(self.files.roots), agents)
        return self._views[session.id]

    def _new_view(self, instructions: Instructions, agents: Mapping[str, NamedAgent]) -> "_View":
        gate = Gate(self._editor, lambda: self.config, lambda: next(iter(self.files.roots), None))
        commands = SessionCommands(lambda: self.config, judged_by(gate.rules))
        return _View(instructions, agents, Shown(), gate, OutsideGate(self._editor), commands)

    async def _planner(self, session: Session, progress: Progress, emit: Emit) -> Planner:
        view = self._view(session)
        self._tell_of_instructions(session, view.instructions, emit)
        for notice in self.picks.settle(self.config, self._secrets):
            emit(Notice("info", notice))
        helpers = Subagents(
            session,
            progress,
            emit,
            lambda agent_id: self.stream.emitter(progress.message.turn_id, session.id, agent_id),
            partial(self._helper, view),
            self.config.subagents,
        )
        self._helpers[session.id] = helpers
        return self._make_planner(session, progress, emit, view, self.selected[0], helpers=helpers)

    def _tell_of_instructions(self, session: Session, used: Instructions, emit: Emit) -> None:
        """Which they are, once; and each time that they are not what they were."""
        now = Instructions.load(self.files.roots)
        if session.id not in self._told and used.files:
            emit(Notice("info", f"the project's instructions: {used}"))
        if now not in (used, self._told.get(session.id)):
            emit(Notice("info", "the project's instructions have changed; a new session will use them"))
        self._told[session.id] = now

    def _helper(
        self, owner: "_View", task: AgentTask, conversation: Conversation, progress: Progress, emit: Emit
    ) -> Planner:
        """A planner for a helper: what its turn was allowed by the user is not allowed to it."""
        agent = named.choose(owner.agents, task)
        model, small = self.selected
        by_mode = model if task.mode == "edit_mode" else small
        wanted = task.model or (agent and agent.model)
        ref = wanted or self.config.subagent_model or by_mode
        try:
            provider = selection.named(ref).provider
        except ModelError as error:
            raise ToolError(str(error)) from None
        if wanted and provider == "scripted":
            raise ToolError(f"{wanted!r} is a script, which makes calls of its own; only the user's settings name one")
        planner = self._make_planner(
            conversation, progress, emit, self._new_view(owner.instructions, {}), ref, write_scope=task.write_scope
        )
        planner.prompt.role = agent.prompt if agent else ""
        return planner

    def _make_planner(
        self,
        conversation: Conversation,
        progress: Progress,
        emit: Emit,
        view: "_View",
        model: str,
        *,
        helpers: Subagents | None = None,
        write_scope: tuple[Path, ...] = (),
    ) -> Planner:
        mode = progress.message.mode

        def notes() -> str:
            plan = self.plans.latest(progress.session_id) if helpers else ""
            turns = conversation.turns if isinstance(conversation, Session) else []
            earlier = [record for turn in turns for record in turn.tool_history]
            return _notes(conversation.todos, touched_files([*earlier, *progress.records]), plan)

        context = ToolContext(
            files=self.files,
            search=self.search,
            editor=self._editor,
            mode=mode,
            session_id=progress.session_id,
            emit=emit,
            todos=conversation.todos,
            pages=self.pages,
            small=small_model(self._model(self.selected[1]), progress, emit, self.config.limits.max_retries),
            shown=view.shown,
            gate=view.gate,
            outside=view.outside,
            commands=view.commands,
            draft=Draft(self.desk, progress.review, view.shown),
            saver=Saver(
                self.files, self._editor, self.desk.applier, progress.review, view.shown, self.config.review.save
            ),
            delegate=helpers.run if helpers else None,
            write_scope=write_scope,
            memory=self._memory,
            may_note=mode != "ask_mode" or self.config.memory_in_ask,
        )
        tools = self._tools(mode, subagent=helpers is None)
        return Planner(
            model=self._model(model),
            prompt=Prompt(
                mode,
                self.files.roots,
                view.instructions,
                view.shown,
                self._nested_instructions(),
                self._memory if helpers else None,
                tuple(view.agents.values()),
            ),
            session=conversation,
            executor=Executor(tools, self._hooks, context),
            editor=self._editor,
            compaction=Compaction(context.small, notes),
            limits=self.config.limits,
            emit=emit,
            progress=progress,
        )

    def _nested_instructions(self) -> NestedInstructions:
        """Trust is given to the first folder."""
        trusted = self.files.roots[0] if self._may_be_asked_for_more() else None
        return NestedInstructions(trusted, self.files.ignore.hides)

    def _may_be_asked_for_more(self) -> bool:
        """Whether what the project says beyond its top folder counts."""
        return bool(self.files.roots) and not self.restricted and self._is_trusted()

    def _model(self, ref: str) -> ResilientModel:
        if ref not in self._models:
            refs = [ref, *(it for it in self.config.fallback_models if it != ref)]
            self._models[ref] = ResilientModel(
                [providers.candidates(it, self.config, self._secrets) for it in refs],
                lambda candidate: providers.connect(candidate, self.config),
                retries=self.config.retries,
                idle=self.config.timeouts.idle,
                pool=self._keys,
                proxied=lambda it: providers.is_proxied(it, self.config),
            )
        return self._models[ref]


def _shown_config(config: Config) -> dict[str, Any]:
    """Addresses without their passwords."""
    values = config.model_dump(by_alias=True, mode="json")
    for section, key in (("publish", "redis"), ("network", "proxy")):
        values[section][key] = shown_url(values[section][key]) if values[section][key] else None
    return values


def _notes(todos: Sequence[Todo], touched: Sequence[str], plan: str) -> str:
    """What a summary must not lose."""
    lines = [
        *(["Todo list:", *(f"- [{it.status}] {it.content} (id {it.id})" for it in todos)] if todos else []),
        *(["Files changed so far:", *(f"- {path}" for path in touched[-MAX_TOUCHED:])] if touched else []),
        *(["The plan, as it stands in its document:", plan] if plan else []),
    ]
    return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class _View:
    """What belongs to one session as long as the process lives."""

    instructions: Instructions
    """A snapshot: a prefix that changes in the middle of a conversation could not be cached."""
    agents: Mapping[str, NamedAgent]
    shown: Shown
    gate: Gate
    outside: OutsideGate
    commands: SessionCommands
