"""Makes planners: for the turns of a session, and for their helpers."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from odin_lsp.agent import named
from odin_lsp.agent.asking import AskerInTurn
from odin_lsp.agent.command_hooks import CommandHooks, Surroundings
from odin_lsp.agent.compaction import Compaction
from odin_lsp.agent.edit_checks import EditChecks
from odin_lsp.agent.executor import Executor
from odin_lsp.agent.held_files import HeldFiles
from odin_lsp.agent.history import Conversation, has_results
from odin_lsp.agent.hooks import Hooks
from odin_lsp.agent.live_session import LiveSession
from odin_lsp.agent.mode_tools import describe_tools, tool_spec
from odin_lsp.agent.model_registry import ModelRegistry
from odin_lsp.agent.nested_instructions import FolderInstructions, NestedInstructions
from odin_lsp.agent.parts import Parts
from odin_lsp.agent.planner import Planner
from odin_lsp.agent.plans import Plans
from odin_lsp.agent.preview import ContextPreview, preview, seen_files, seen_servers
from odin_lsp.agent.prompt import Prompt, about_commands, prompt_text
from odin_lsp.agent.scope import Briefing, Scope
from odin_lsp.agent.slash import told_skills
from odin_lsp.agent.small import small_model
from odin_lsp.agent.stream import EventStream
from odin_lsp.agent.subagents import Subagents
from odin_lsp.agent.surroundings import are_known, surroundings
from odin_lsp.agent.toolbox import HELPER, Toolbox
from odin_lsp.agent.touched import edited_in
from odin_lsp.agent.turn import Progress
from odin_lsp.config import roles
from odin_lsp.errors import ModelError, ToolError
from odin_lsp.events import Emit
from odin_lsp.extensions.hook_files import CommandHook
from odin_lsp.extensions.registry import Extensions
from odin_lsp.intelligence.servers import Servers
from odin_lsp.mcp.offered import Offered
from odin_lsp.mcp.pool import McpServers
from odin_lsp.messages import user
from odin_lsp.models import catalog
from odin_lsp.models.base import Request
from odin_lsp.modes import Mode
from odin_lsp.ports import Editor
from odin_lsp.project.project import Project
from odin_lsp.records import Todo
from odin_lsp.review.desk import ReviewDesk
from odin_lsp.review.drafts import Draft
from odin_lsp.review.saving import Saver
from odin_lsp.sessions.history import repair
from odin_lsp.sessions.memory import Memory
from odin_lsp.sessions.session import Session
from odin_lsp.sessions.store import sessions_folder
from odin_lsp.tools.base import AgentTask, ToolContext
from odin_lsp.web.pages import Pages
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search

MAX_TOUCHED = 100
"""Files that a summary names."""


class Planners:
    def __init__(
        self,
        project: Project,
        files: Files,
        search: Search,
        editor: Editor,
        desk: ReviewDesk,
        plans: Plans,
        models: ModelRegistry,
        pages: Pages,
        servers: Servers,
        mcp: McpServers,
        notes: Memory,
        parts: Parts,
        stream: EventStream,
    ) -> None:
        self._project = project
        self._files = files
        self._search = search
        self._editor = editor
        self._desk = desk
        self._plans = plans
        self._models = models
        self._pages = pages
        self._servers = servers
        self._mcp = mcp
        self._notes = notes
        self._parts = parts
        self.toolbox = Toolbox(project, models, mcp, parts.tools)
        self._stream = stream
        self._folders = FolderInstructions(files)

    async def for_turn(self, live: LiveSession, progress: Progress, emit: Emit) -> Planner:
        session = live.session
        if progress.decided or progress.is_taken_up:  # another Odin may have made some of it
            progress.review.touched.update(await asyncio.to_thread(self._desk.touched, progress.message.turn_id))
        await asyncio.to_thread(describe_tools)
        at_hand = await asyncio.to_thread(lambda: self._project.now.extensions)
        briefing = await asyncio.to_thread(live.scope.read_briefing)
        if not progress.message.origin:
            await self.toolbox.begin_servers(at_hand, emit)
        live.listed = self.toolbox.listed() if live.listed is None else live.listed
        live.helpers = Subagents(
            session,
            progress,
            emit,
            lambda agent_id: self._stream.emitter(progress.message.turn_id, session.id, agent_id),
            partial(self._for_helper, briefing, live.listed),
            self._project.now.config.subagents,
        )
        planner = self._make(
            session,
            progress,
            emit,
            live.scope,
            live.model or self._models.selected,
            listed=live.listed,
            helpers=live.helpers,
            at_hand=at_hand,
        )
        planner.prompt.part = self._role_prompt
        planner.prompt.surroundings = live.surroundings
        planner.prompt.at_hand = at_hand
        planner.prompt.plan = live.plan_run.plan.state if live.plan_run else ""
        return planner

    async def preview(
        self, session: Session, live: LiveSession | None, mode: Mode, text: str, *, exact: bool
    ) -> ContextPreview:
        """What would be sent if the user said `text` now. `exact`: the provider is asked how many tokens that has."""
        config = self._project.now.config
        scope = live.scope if live else Scope.new(self._editor, self._project, partial(Briefing.of, self._project.now))
        briefing, shown = await asyncio.to_thread(scope.read_briefing), scope.shown
        listed = live.listed if live and live.listed is not None else self.toolbox.listed()
        prompt = Prompt(
            mode,
            self._files.roots,
            briefing.instructions,
            shown,
            memory=self._memory,
            extensions=briefing.extensions,
            held=HeldFiles(self._files, shown, edited=lambda: edited_in(session)),
            commands=about_commands(config.allowed_commands, config.forbidden_commands),
            assemble=self._parts.system_prompt,
        )
        prompt.part = self._role_prompt
        if not are_known(session.messages):
            may_run = not self._project.now.is_restricted
            prompt.surroundings = await surroundings(self._files, scope.commands, may_run=may_run)
        if live is None:
            await scope.commands.close()
        plan = self._plans.latest(session.id) if mode == "edit_mode" else None
        prompt.plan = plan.state if plan else ""
        listing = self.toolbox.tools(mode, briefing, shown, listed)
        opening = await prompt.opening(session)
        request = Request(
            prompt.system,
            tuple(repair([*session.messages, user(opening, prompt.about_mode, text)])),
            tuple(map(tool_spec, listing.tools.values())),
            shared_tools=listing.shared,
        )
        ref = (live.model if live else "") or self._models.selected
        counted = await self._count(ref, request) if exact else (None, None)
        return preview(
            request,
            ref,
            briefing.instructions,
            session_id=session.id,
            mode=mode,
            spent=session.usage,
            files=await seen_files(shown, self._files),
            servers=seen_servers(self._mcp.offered.values(), listed),
            counted=counted,
        )

    async def _count(self, ref: str, request: Request) -> tuple[int | None, str | None]:
        """The provider's count, or why there is none."""
        try:
            return await self._models.count_tokens(ref, request), None
        except ModelError as error:
            return None, str(error)

    @property
    def _role_prompt(self) -> str:
        config = self._project.now.config
        return roles.known(config)[config.role].prompt

    @property
    def _memory(self) -> Memory | None:
        return self._notes if self._project.now.config.memory else None

    def _for_helper(
        self,
        briefing: Briefing,
        listed: Sequence[Offered],
        task: AgentTask,
        conversation: Conversation,
        progress: Progress,
        emit: Emit,
    ) -> Planner:
        """What its turn was allowed by the user is not allowed to a helper."""
        agent = named.choose(briefing.extensions.agents, task)
        model, small = self._models.refs
        by_mode = model if task.mode == "edit_mode" else small
        wanted = task.model or (agent and agent.model)
        ref = wanted or self._project.now.config.subagent_model or by_mode
        try:
            provider = self._models.provider(ref)
        except ModelError as error:
            raise ToolError(str(error)) from None
        if wanted and provider == "scripted":
            raise ToolError(f"{wanted!r} is a script, which makes calls of its own; only the user's settings name one")
        scope = Scope.new(AskerInTurn(self._editor, lambda: emit), self._project, partial(_for_others, briefing))
        parts = (HELPER, *([agent.name] if agent else []))
        planner = self._make(
            conversation, progress, emit, scope, ref, listed=listed, parts=parts, write_scope=task.write_scope
        )
        limits = (f"You may change only: {it}" for it in task.write_scope)
        planner.prompt.role = "\n".join((prompt_text("helper"), *limits, *([agent.prompt] if agent else [])))
        return planner

    def _make(
        self,
        conversation: Conversation,
        progress: Progress,
        emit: Emit,
        scope: Scope,
        model: str,
        *,
        listed: Sequence[Offered] = (),
        helpers: Subagents | None = None,
        parts: Sequence[str] = (),
        write_scope: tuple[Path, ...] = (),
        at_hand: Extensions | None = None,
    ) -> Planner:
        said, config = progress.message, self._project.now.config
        mode = said.mode

        def notes() -> str:
            plan = self._plans.latest(progress.session_id) if helpers else None
            touched = edited_in(conversation, progress.records) if mode == "edit_mode" else []
            skills = told_skills(scope.briefing.extensions.skills, conversation.history.messages)
            return _notes(conversation.findings, conversation.todos, touched, plan.text if plan else "", skills)

        turns = [progress.problems, *([progress.owner.problems] if progress.owner else [])]
        checks = EditChecks(self._servers, self._files, self._search, emit, config.diagnostics.wait, turns)
        context = ToolContext(
            files=self._files,
            search=self._search,
            editor=self._editor,
            mode=mode,
            session_id=progress.session_id,
            emit=emit,
            todos=conversation.todos,
            pages=self._pages,
            servers=self._servers,
            mcp=self._mcp,
            skills=scope.briefing.extensions.skills,
            small=None if said.origin else small_model(self._models.small, progress, emit, config.limits.max_retries),
            shown=scope.shown,
            gate=scope.gate,
            outside=scope.outside,
            commands=scope.commands,
            draft=Draft(self._desk, progress.review, scope.shown, before_review=checks.before),
            saver=Saver(
                self._files,
                self._editor,
                scope.gate.asker,
                self._desk.applier,
                progress.review,
                scope.shown,
                config.review.save,
            ),
            delegate=helpers.run if helpers else None,
            begin=helpers.begin if helpers else None,
            write_scope=write_scope,
            sees=bool(said.origin) or catalog.find(model).vision,
            reads_documents=not said.origin and catalog.find(model).documents,
            memory=self._memory,
            note=conversation.note_finding,
            may_note=mode != "ask_mode" or config.memory_in_ask,
            has_results=lambda calls: has_results(conversation.history.messages, calls),
        )
        listing = self.toolbox.tools(mode, scope.briefing, scope.shown, listed, parts)
        hooks = self._hooks((at_hand or scope.briefing.extensions).hooks, progress.session_id, mode, emit)
        scope.gate.consult = hooks.consult
        return Planner(
            model=self._models.get(model),
            prompt=Prompt(
                mode,
                self._files.roots,
                scope.briefing.instructions,
                scope.shown,
                self._nested_instructions(),
                self._memory if helpers else None,
                scope.briefing.extensions,
                held=HeldFiles(
                    self._files,
                    scope.shown,
                    lambda: context.draft.texts,
                    lambda: edited_in(conversation, progress.records),
                ),
                commands=about_commands(config.allowed_commands, config.forbidden_commands),
                assemble=self._parts.system_prompt,
            ),
            session=conversation,
            executor=Executor(
                listing.tools,
                hooks,
                context,
                progress.records,
                lambda: progress.is_suspended,
                checks,
                partial(self.toolbox.unlisted, mode, parts),
                self.toolbox.known,
            ),
            asker=scope.gate.asker,
            compaction=Compaction(context.small, notes, self._parts.shorten, hooks),
            limits=config.limits,
            emit=emit,
            progress=progress,
            shared_tools=listing.shared,
            helpers=helpers,
            temperature=config.temperature if said.temperature is None else said.temperature,
        )

    async def hooks_of(self, live: LiveSession, emit: Emit) -> Hooks:
        """What counts now, apart from turns."""
        found = await asyncio.to_thread(lambda: self._project.now.extensions.hooks)
        return self._hooks(found, live.session.id, live.turns.mode, emit)

    def _hooks(self, commands: Sequence[CommandHook], session_id: str, mode: Mode, emit: Emit) -> Hooks:
        """Those of the front end, and the commands that the user and the project have for it."""
        now = self._project.now
        if not commands or now.root is None:
            return self._parts.hooks
        around = Surroundings(
            session_id,
            now.root,
            mode,
            sessions_folder(now.root) / f"{session_id}.jsonl",
            now.roots,
            frozenset(name for names in now.config.keys.values() for name in names),
            network=now.config.commands.network if now.config.extensions.sandbox_hooks else None,
        )
        return self._parts.hooks.joined_by(CommandHooks(commands, around, emit))

    def _nested_instructions(self) -> NestedInstructions:
        """Trust is given to the first folder."""
        now = self._project.now
        if now.root is None or not now.is_trusted:
            return NestedInstructions()
        self._folders.begin(now.root)
        return NestedInstructions(self._folders, self._files.ignore.hides)


def _for_others(briefing: Briefing) -> Briefing:
    """Subagents have no subagents."""
    return replace(briefing, extensions=replace(briefing.extensions, agents={}))


def _notes(
    findings: Sequence[str], todos: Sequence[Todo], touched: Sequence[str], plan: str, skills: Sequence[str]
) -> str:
    """What a summary must not lose."""
    lines = [
        *(["Your own notes of this session:", *(f"- {it}" for it in findings)] if findings else []),
        *(["Todo list:", *(f"- [{it.status}] {it.content} (id {it.id})" for it in todos)] if todos else []),
        *(["Files changed so far:", *(f"- {path}" for path in touched[-MAX_TOUCHED:])] if touched else []),
        *(["The plan, as it stands in its document:", plan] if plan else []),
        *(["Skills that are in use:", *skills] if skills else []),
    ]
    return "\n".join(lines)
