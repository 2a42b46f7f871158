"""Wires what a project needs besides an editor: text, models, review, sessions. The server and the terminal make one
each."""

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from odin_lsp import locks
from odin_lsp.agent.asking import AskerInTurn
from odin_lsp.agent.authorship import Authorship
from odin_lsp.agent.live_session import LiveSession
from odin_lsp.agent.mode_tools import describe_tools
from odin_lsp.agent.model_registry import ModelRegistry
from odin_lsp.agent.open_sessions import OpenSessions
from odin_lsp.agent.own_commands import OwnCommands
from odin_lsp.agent.parts import Parts
from odin_lsp.agent.planner import Planner
from odin_lsp.agent.planners import Planners
from odin_lsp.agent.plans import Plans
from odin_lsp.agent.preview import ContextPreview
from odin_lsp.agent.server_news import ServerNews
from odin_lsp.agent.stream import EventStream, log_event
from odin_lsp.agent.toolbox import around_mcp
from odin_lsp.agent.turn import Progress, Remark
from odin_lsp.agent.turn_queue import TurnQueue
from odin_lsp.config import Network, SearchSettings, WebSettings
from odin_lsp.errors import RequestError, SessionError
from odin_lsp.events import MAIN, Emit, Event, EventRecord, ModelChanged, ReviewClosed, RoleChanged, TurnUndone
from odin_lsp.intelligence.servers import Servers
from odin_lsp.language_servers.choosing import Around
from odin_lsp.language_servers.pool import OwnServers
from odin_lsp.mcp.pool import McpServers
from odin_lsp.models import selection
from odin_lsp.models.selection import Role
from odin_lsp.modes import Mode
from odin_lsp.permissions import protected
from odin_lsp.ports import Editor
from odin_lsp.project.project import Project, Situation
from odin_lsp.records import KeptFile
from odin_lsp.redaction import secrets_of
from odin_lsp.review.desk import ReviewDesk
from odin_lsp.review.journal import ReviewJournal
from odin_lsp.review.proposals import Proposal
from odin_lsp.review.provenance import Provenance
from odin_lsp.review.screen import receipts_of
from odin_lsp.review.turn_review import TurnReview
from odin_lsp.review.undo import Undone, Wanted, take_back
from odin_lsp.review.undo_log import UndoLog
from odin_lsp.server_states import ServersChanged
from odin_lsp.session_events import TrustChanged
from odin_lsp.sessions.memory import Memory, memory_folder
from odin_lsp.sessions.publish import Publisher
from odin_lsp.sessions.store import sessions_folder
from odin_lsp.tasks import Tasks
from odin_lsp.tools.base import Tool
from odin_lsp.values import adapter
from odin_lsp.web.pages import Pages
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search

log = logging.getLogger("odin.agent")
SCRIPT = "{ref!r} is a script, which makes calls of its own; only the user's settings and their editor name one"
NOT_SHOWN_AGAIN = "a review that waits cannot be shown now; Odin tries it again at its next start"


class Core:
    def __init__(
        self,
        project: Project,
        editor: Editor,
        *,
        buffers: Buffers | None = None,
        parts: Parts | None = None,
        servers: Callable[[Servers], Servers] = lambda own: own,
    ) -> None:
        """`servers`: what is asked about code, given Odin's own language servers."""
        now, parts = project.now, parts or Parts()
        self.project = project
        self._editor = editor
        self.stream = EventStream()
        self.files = Files(now.roots, buffers or Buffers(), FileCache(now.config.cache), now.config.files)
        self.search = Search(self.files)
        self.asker = AskerInTurn(editor, lambda: self.stream.emitter("", ""))
        """For what is asked apart from turns."""
        self.models = ModelRegistry(project, parts.model, parts.small_model)
        self.pages = Pages(*_of_pages(now))
        self._server_news = ServerNews(self._look_at_servers, self._emit_apart)
        self.own_servers = OwnServers(
            self.files,
            self.search,
            _of_servers(now),
            lambda level, message: editor.notify(level, message),
            self._server_news.note_change,
        )
        self.servers = servers(self.own_servers)
        self.mcp = McpServers(lambda level, message: editor.notify(level, message), self._server_news.note_change)
        self._undo_log = UndoLog(lambda: self._sessions / "undo", lambda: project.now.config.review)
        self.stream.subscribe(self._undo_log.follow)
        self.stream.subscribe(log_event)
        self._journal = ReviewJournal(lambda: self._sessions / "reviews")
        self.desk = ReviewDesk(
            self.files,
            editor,
            lambda: (project.now.config.review, project.now.config.timeouts),
            protected.caution,
            self._undo_log,
            self._journal,
        )
        provenance = Provenance(self._undo_log)
        self.authorship = Authorship(provenance, self.desk.applier.text_beside_loop, lambda: self._sessions)
        self.plans = Plans(self.files, editor, self.desk.applier, lambda: self._sessions)
        self._planners = Planners(
            project,
            self.files,
            self.search,
            editor,
            self.desk,
            self.plans,
            self.models,
            self.pages,
            self.servers,
            self.mcp,
            Memory(lambda: memory_folder(self._root)),
            parts,
            self.stream,
        )
        self.sessions = OpenSessions(
            lambda: self._sessions,
            lambda session: LiveSession(
                session,
                project,
                self.files,
                editor,
                self.stream,
                self._planner_for,
                self._planners.hooks_of,
                self.plans,
                lambda: self.models.naming,
            ),
            self.stream,
            lambda level, message: editor.notify(level, message),
            lambda turn_id: turn_id in self._going_on or self.desk.is_waiting(turn_id),
            self.restore_reviews,
        )
        self.agent_sessions: dict[tuple[str, str], str] = {}
        """Of agents of others, by their names and what they call their conversations."""
        self.own = OwnCommands(self)
        self._restoring: asyncio.Task[None] | None = None
        self._going_on: set[str] = set()
        """Turns that have waited for a review until just now."""
        self._tasks = Tasks()
        self._publisher: Publisher | None = None
        self._unsubscribe: Callable[[], None] = lambda: None
        self._publish(now)
        self._adapted_to = now
        project.follow(self._adapt)

    def cancel(
        self, turn_id: str | None, agent_id: str | None = None, *, drop: bool = False, then_next: bool = False
    ) -> bool:
        """End the turn, wherever it runs; without an id, that of the current session. With `agent_id`: one helper. What
        waits for a review goes on waiting, unless it is to be dropped; so do queued messages, unless they go on."""
        if agent_id is not None:
            return any(live.cancel_helper(agent_id, turn_id) for live in self.sessions)
        if turn_id is None:
            current = self.sessions.current
            return current is not None and current.turns.cancel(drop=drop, then_next=then_next)
        return any(live.turns.cancel(turn_id, drop=drop, then_next=then_next) for live in self.sessions)

    def cancel_compaction(self, turn_id: str | None) -> bool:
        """End only the summary that a turn has written, here or in the background; the turn goes on without it."""
        if turn_id is None:
            return self.sessions.current is not None and self.sessions.current.cancel_compaction(None)
        return any(live.cancel_compaction(turn_id) for live in self.sessions)

    def queue_of(self, turn_id: str | None) -> TurnQueue | None:
        """Where that turn runs or waits; without an id, the queue of the current session."""
        if turn_id is None:
            return self.sessions.current.turns if self.sessions.current else None
        return next((live.turns for live in self.sessions if live.turns.has(turn_id)), None)

    def steer(self, remark: Remark, turn_id: str | None, agent_id: str | None = None) -> bool:
        """Say something into a turn that runs, or to one of its helpers."""
        if agent_id is not None:
            return any(live.steer_helper(agent_id, remark, turn_id) for live in self.sessions)
        if turn_id is None:
            return self.sessions.current is not None and self.sessions.current.turns.steer(remark)
        return any(live.turns.steer(remark, turn_id) for live in self.sessions)

    def pick(self, chosen: Mapping[Role, str | None]) -> None:
        """The user's pick of models, told to whoever shows it."""
        self.project.pick(chosen)
        self._emit_apart(ModelChanged(self.models.selected, self.models.running))

    def pick_for(self, live: LiveSession, ref: str) -> None:
        """A pick for this session alone, until it is closed; an empty one: as for all."""
        if ref and selection.named(ref).provider == "scripted":
            raise RequestError(SCRIPT.format(ref=ref))
        live.model = ref
        self.stream.emitter("", live.session.id)(ModelChanged(ref or self.models.selected, ref or self.models.running))

    def switch_role(self, name: str) -> None:
        before = self.models.selected
        self.project.switch_role(name)
        self._emit_apart(RoleChanged(name))
        if self.models.selected != before:
            self._emit_apart(ModelChanged(self.models.selected, self.models.running))

    def _emit_apart(self, event: Event) -> None:
        """Of no turn."""
        current = self.sessions.current
        self.stream.emitter("", current.session.id if current else "")(event)

    def _look_at_servers(self) -> ServersChanged:
        return ServersChanged(
            mcp_servers=tuple(self.mcp.states(measure=False)),
            language_servers=tuple(self.own_servers.states(measure=False)),
        )

    def add_tool(self, tool: Tool[Any]) -> None:
        self._planners.toolbox.add(tool)

    async def preview(
        self, session_id: str | None, mode: Mode | None, text: str, *, exact: bool = False
    ) -> ContextPreview:
        """What would be sent if the user said `text` now. `exact`: its provider counts it, which takes seconds."""
        session = await self.sessions.read(session_id)
        live = self.sessions.find(session.id)
        mode = mode or (live.turns.mode if live else "ask_mode")
        return await self._planners.preview(session, live, mode, text, exact=exact)

    async def warm(self) -> None:
        """Do what takes time before anybody waits for it: describe the tools, connect to the configured model."""
        await asyncio.to_thread(lambda: (adapter(EventRecord), describe_tools()))
        await self.models.get(self.models.selected).warm()

    async def undo(self, turn_id: str | None, wanted: Wanted | None = None) -> Undone:
        """Take back what a turn did, or the last one, or an undo. What was saved is saved again: the disk had it
        too."""
        saved = {it.path: it.uri for it in self.files.buffers if not it.unsaved}
        undone = await take_back(self._undo_log, turn_id, self.desk.applier, wanted)
        uris = tuple(uri for path, uri in saved.items() if path in undone.restored)
        if uris and self.project.now.config.review.save != "never":
            for uri, reason in await self._editor.save(uris):
                self._editor.notify("warning", f"{uri} is as before, but could not be saved: {reason}")
        await self._tell_of_undo(turn_id, undone)
        return undone

    async def _tell_of_undo(self, named: str | None, undone: Undone) -> None:
        """The session of the turn, if it is open."""
        if undone.undo_id is None:
            return
        turn_id = await asyncio.to_thread(self._undo_log.turn_of, undone.undo_id) or ""
        found = (it for it in self.sessions if any(turn.turn_id == turn_id for turn in it.session.turns))
        live = next(found, None)
        event = TurnUndone(
            tuple(path.as_uri() for path in undone.restored),
            tuple(KeptFile(it.path.as_uri(), it.reason, it.hunk_ids) for it in undone.kept),
            undone.undo_id,
            again=named is not None and named != turn_id,
        )
        self.stream.emitter(turn_id, live.session.id if live else "")(event)

    async def restore_reviews(self) -> None:
        """Show again, once, what waited for a decision when Odin was ended, here or in another editor."""
        if self._restoring is None:
            self._restoring = asyncio.create_task(self._restore_reviews())
        await asyncio.shield(self._restoring)

    async def _restore_reviews(self) -> None:
        for kept in await asyncio.to_thread(lambda: list(self._journal.waiting())):
            emit = self.stream.emitter(kept.turn_id, kept.session_id)
            turn = TurnReview(kept.turn_id, emit, kept.session_id, origin=kept.origin)
            turn.decided_late = partial(self._go_on, turn)
            try:
                self.desk.restore(kept, turn)
            except OSError as error:  # the others are shown, and can be decided on
                self._editor.notify("warning", f"{NOT_SHOWN_AGAIN}: {error}")

    def _go_on(self, turn: TurnReview, proposal: Proposal) -> None:
        self._going_on.add(proposal.turn_id)
        self._tasks.begin(self._have_go_on(turn, proposal))

    async def _planner_for(self, live: LiveSession, progress: Progress, emit: Emit) -> Planner:
        """With each turn, what the disk has refused is tried again."""
        self.sessions.catch_up()
        self.desk.journal.catch_up()
        return await self._planners.for_turn(live, progress, emit)

    async def _have_go_on(self, turn: TurnReview, proposal: Proposal) -> None:
        """The turn that waited goes on, whether or not anybody has its session open."""
        is_open = self.sessions.find(turn.session_id) is not None
        try:
            is_only = self.sessions.current is None
            live = await self.sessions.open(turn.session_id, switch=is_only, patience=locks.PATIENCE)
        except SessionError as error:
            log.info("nobody is told what became of the review %s: %s", proposal.id, error)
            return
        finally:
            self._going_on.discard(proposal.turn_id)
        if not is_open:
            live.session.note_event(turn.turn_id, MAIN, ReviewClosed(proposal.id, tuple(receipts_of(proposal))))
        live.turns.reviewed(proposal, turn.touched, is_last=not self.desk.is_waiting(proposal.turn_id))

    async def files_shown(self) -> list[str]:
        """All that the model may find, as it names them."""
        found = [await self.search.files(root) for root in self.files.roots]
        return await asyncio.to_thread(lambda: [name for it in found for name in self.files.shown_below(it)])

    def abort(self) -> None:
        for live in self.sessions:
            live.turns.abort()

    async def close(self) -> None:
        await self.sessions.close()
        await self.desk.close()
        await self._tasks.settled()
        if self._publisher is not None:
            await self._publisher.close()
        await self.models.close()
        await self.servers.close()
        await self.mcp.close()
        self._server_news.close()

    @property
    def _sessions(self) -> Path:
        return sessions_folder(self._root)

    @property
    def _root(self) -> Path:
        return self.project.now.root or Path("/")

    def _adapt(self, now: Situation) -> None:
        """What follows from folders and settings is made anew where they are others than before."""
        before, self._adapted_to = self._adapted_to, now
        if now.is_trusted != before.is_trusted:
            self._emit_apart(TrustChanged(now.is_trusted))
        if _of_files(now) != _of_files(before):
            self.files.configure(now.roots, now.config.files)
            self.files.cache.configure(now.config.cache)
        if _of_pages(now) != _of_pages(before):
            self.pages.configure(*_of_pages(now))
        self.own_servers.adapt(_of_servers(now))
        if _of_mcp(now) != _of_mcp(before):
            self.mcp.use({}, around_mcp(now))  # the next turn starts those that count then
        self.mcp.drop(name for name, is_on in now.switched.items() if not is_on)
        if now.root != before.root:
            self.sessions.leave()
            if self._restoring is not None:
                self._restoring = None
                self._tasks.begin(self.restore_reviews())
        if (now.roots, now.is_trusted) != (before.roots, before.is_trusted):
            for live in self.sessions:
                live.brief(now)
        self._publish(now)

    def _publish(self, now: Situation) -> None:
        """To where the settings say now."""
        old, settings = self._publisher, now.config.publish
        if old is not None and old.settings != settings:
            old.stop()
            self._unsubscribe()
            self._publisher = None
        if self._publisher is None and settings.redis:
            self._publisher = Publisher(settings, {*now.secrets.values(), *secrets_of(os.environ)})
            self._unsubscribe = self.stream.subscribe(self._publisher)


def _of_files(now: Situation) -> tuple[object, ...]:
    return now.roots, now.config.files, now.config.cache


def _of_pages(now: Situation) -> tuple[WebSettings, Network, tuple[str, ...], SearchSettings]:
    return now.config.web, now.config.network, tuple(now.secrets.values()), now.config.web_search


def _of_mcp(now: Situation) -> tuple[object, ...]:
    return around_mcp(now), now.is_restricted, now.config.extensions


def _of_servers(now: Situation) -> Around:
    return Around(
        roots=now.roots,
        settings=now.config.language_servers,
        is_trusted=now.is_trusted,
        secret_names=frozenset(name for names in now.config.keys.values() for name in names),
    )
