"""One session of a client: a workspace of its own, the conversation in it, and what was chosen for it.

All that it does it does by the library, so that it could be attached to a workspace that another process has open."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from odin_lsp.acp import options
from odin_lsp.acp.client_files import ClientFiles
from odin_lsp.acp.editor import AcpEditor
from odin_lsp.acp.prompts import said
from odin_lsp.acp.servers import known
from odin_lsp.acp.telling import Telling, Update, plan
from odin_lsp.acp.wire import ClientAbilities, Prompt, SessionPlace
from odin_lsp.errors import RequestError
from odin_lsp.events import EventRecord, ModelChanged, RoleChanged, TurnFinished
from odin_lsp.json_rpc import INTERNAL, Peer, Refused
from odin_lsp.library import Buffers, Outcome, Session, Turn, Workspace
from odin_lsp.modes import Mode
from odin_lsp.records import ExitReason
from odin_lsp.tasks import Tasks
from odin_lsp.workspace.uris import path_of

STOP_REASONS: Mapping[ExitReason, str] = {
    "end_turn": "end_turn",
    "max_turns": "max_turn_requests",
    "max_budget": "max_turn_requests",
    "loop": "max_turn_requests",
    "max_tokens": "max_tokens",
    "refused": "refusal",
    "interrupted": "cancelled",
    "aborted": "cancelled",
}
"""How turns end, in the words of the protocol. It has none for those that fail: they are answered with an error."""
CANCELLED = {"stopReason": "cancelled"}
ELSEWHERE = ("new", "resume", "clear", "model", "trust")
"""Commands that are not for messages here: clients have their own ways for them."""
WITHOUT_WORDS = "(There are no words with this message: see what is attached.)"


class AcpSession:
    def __init__(self, place: SessionPlace, client: ClientAbilities, peer: Peer) -> None:
        self.id = ""
        """By which the client knows it."""
        self._mode: Mode = "edit_mode"
        self._peer = peer
        self._root = place.folders[0].resolve()
        self._telling = Telling(self._root, lambda: self._session.usage.cost_usd)
        buffers = Buffers()
        self._files = ClientFiles(self._ask, client.fs, buffers, place.folders)
        editor = AcpEditor(self._ask, self._update, self._telling, self._files, shows_forms=client.shows_forms)
        self._workspace = Workspace(
            *place.folders,
            editor=editor,
            buffers=buffers,
            mcp_servers=known(place.mcp_servers),
            hooks=[self._files.before_call] if client.fs.read_text_file else [],
        )
        editor.decide = self._workspace.decide
        self._session: Session
        self._turns: list[Turn] = []
        """Those that run or wait, in their order."""
        self._cancels = 0
        """How often the client has cancelled what goes on here."""
        self._untold: list[Update] = []
        """What has happened before the client knew of the session."""
        self._tasks = Tasks()
        self._open = AsyncExitStack()

    async def begin(self, session_id: str | None = None) -> None:
        """Begin a conversation, or go on with one."""
        await self._open.enter_async_context(self._workspace)
        try:
            self._session = await self._workspace.resume(session_id) if session_id else self._workspace.begin()
        except BaseException:
            await self.close()
            raise
        self.id = session_id or self._session.id
        self._workspace.subscribe(self._hear)
        self._tasks.begin(self._list_commands())

    async def replay(self) -> None:
        """Tell all that has happened in the conversation."""
        telling = Telling(self._root)
        async for record in self._session.events():
            for update in telling.replayed(record):
                self._update(update)

    async def prompt(self, prompt: Prompt) -> Mapping[str, Any]:
        """A turn, which waits for the end of those before it."""
        message, cancels = said(prompt.prompt, self._root), self._cancels
        await self._files.look(*message.files)
        if cancels != self._cancels:
            return CANCELLED
        text = message.text or (WITHOUT_WORDS if message.images or message.context else "")
        turn = self._session.send(self._mode, text, images=message.images, context=message.context)
        self._turns.append(turn)
        try:
            outcome = await turn.outcome()
        except asyncio.CancelledError:  # the client gave up the request: its answer is the outcome all the same
            turn.cancel()
            outcome = await turn.outcome()
        finally:
            self._turns.remove(turn)
        return _answer(outcome)

    def cancel(self) -> None:
        """End all that runs and waits, the last first, so that none begins because another has ended."""
        self._cancels += 1
        for turn in reversed(self._turns):
            turn.cancel()

    @property
    def chosen(self) -> dict[str, Any]:
        """What a client is told of a session when it has opened it."""
        return {"modes": options.modes(self._mode), "configOptions": self._options}

    def set_mode(self, name: str) -> None:
        self._mode = options.mode_of(name)
        self._update({"sessionUpdate": "config_option_update", "configOptions": self._options})

    def set_option(self, name: str, value: str) -> dict[str, Any]:
        match name:
            case options.MODE:
                self._mode = options.mode_of(value)
                self._update({"sessionUpdate": "current_mode_update", "currentModeId": value})
            case options.MODEL:
                self._workspace.select(value)
            case options.EFFORT:
                self._workspace.select(options.with_effort(self._workspace.model, value))
            case _:
                raise RequestError(f"there is no option {name!r}")
        return {"configOptions": self._options}

    async def close(self) -> None:
        self.cancel()
        await self._tasks.close()
        await self._open.aclose()

    @property
    def _options(self) -> list[dict[str, Any]]:
        workspace = self._workspace
        return options.config_options(self._mode, workspace.model, workspace.models, workspace.efforts(workspace.model))

    async def _list_commands(self) -> None:
        """After the answer that tells the client of the session."""
        found = [it for it in await self._workspace.slash_commands() if it.name not in ELSEWHERE]
        commands = [
            {"name": it.name, "description": it.description} | ({"input": {"hint": it.hint}} if it.hint else {})
            for it in found
        ]
        for update in (*self._untold, {"sessionUpdate": "available_commands_update", "availableCommands": commands}):
            self._update(update)

    def _hear(self, record: EventRecord) -> None:
        if record.session_id not in ("", self._session.id):
            return
        for update in self._telling.told(record):
            self._update(update)
        match record.event:
            case ModelChanged() | RoleChanged():
                self._update({"sessionUpdate": "config_option_update", "configOptions": self._options})
            case TurnFinished(outcome) if outcome.plan and (path := path_of(outcome.plan)):
                self._update(plan(self._workspace.steps(path)))
            case _:
                pass

    def _update(self, update: Update) -> None:
        if self.id:
            self._peer.notify("session/update", {"sessionId": self.id, "update": update})
        else:
            self._untold.append(update)

    async def _ask(self, method: str, params: Mapping[str, Any]) -> Any:
        return await self._peer.ask(method, {"sessionId": self.id, **params})


def _answer(outcome: Outcome) -> Mapping[str, Any]:
    if outcome.reason == "failed":
        raise Refused(INTERNAL, outcome.detail or "the turn has failed")
    return {"stopReason": STOP_REASONS[outcome.reason]}
