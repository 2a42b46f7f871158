"""One session of a client: the conversation, wherever it is, and what was chosen for it."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from odin_lsp.acp import options
from odin_lsp.acp.attached import Attached, attached
from odin_lsp.acp.client_files import ClientFiles
from odin_lsp.acp.editor import AcpEditor
from odin_lsp.acp.outgoing import Outgoing, fit_object
from odin_lsp.acp.places import Own, Place, Turn
from odin_lsp.acp.prompts import said
from odin_lsp.acp.servers import known
from odin_lsp.acp.telling import Telling, Update, plan
from odin_lsp.acp.wire import ClientAbilities, Prompt, SessionPlace
from odin_lsp.errors import OdinError, RequestError
from odin_lsp.events import EventRecord, ModelChanged, RoleChanged, TurnFinished
from odin_lsp.host.remote import APART
from odin_lsp.json_rpc import INTERNAL, Peer, Refused
from odin_lsp.library import Buffers, Outcome, Workspace
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
    def __init__(self, given: SessionPlace, client: ClientAbilities, peer: Peer, *, attaches: bool) -> None:
        """`attaches`: whether another Odin may do the work."""
        self.id = ""
        """By which the client knows it."""
        self._mode: Mode = "edit_mode"
        self._peer = peer
        self._given = given
        self._client = client
        self._attaches = attaches
        self._servers = known(given.mcp_servers)
        self._telling = Telling(given.folders[0].resolve(), lambda: self._place.usage.cost_usd)
        self._buffers = Buffers()
        self._files = ClientFiles(self._ask, client.fs, self._buffers, given.folders)
        self._editor = AcpEditor(
            self._ask_person, self._update, self._telling, self._files, shows_forms=client.shows_forms
        )
        self._place: Place
        self._settling = asyncio.Lock()
        self._refusal = ""
        """Why another Odin did not want to do the work, when it was last asked."""
        self._turns: list[Turn] = []
        """Those that run or wait, in their order."""
        self._cancels = 0
        """How often the client has cancelled what goes on here."""
        self._untold: list[Update] = []
        """What has happened before the client knew of the session."""
        self._outgoing = Outgoing()
        self._tasks = Tasks()

    async def begin(self, session_id: str | None = None) -> None:
        """Begin a conversation, or go on with one."""
        await self._enter(await self._attached() or self._own(), session_id)
        self.id = session_id or self._place.session_id
        self._tasks.begin(self._list_commands())

    async def replay(self) -> None:
        """Tell all that has happened in the conversation."""
        telling = Telling(self._place.root)
        async for record in self._place.events():
            for update in telling.replayed(record):
                self._update(update)

    async def prompt(self, prompt: Prompt) -> Mapping[str, Any]:
        """A turn, which waits for the end of those before it."""
        cancels = self._cancels
        await self._settle()
        message = said(prompt.prompt, self._place.root)
        if isinstance(self._place, Own):
            await self._files.look(*message.files)
        if cancels != self._cancels:
            return CANCELLED
        text = message.text or (WITHOUT_WORDS if message.images or message.context else "")
        turn = self._place.send(self._mode, text, message)
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

    async def set_option(self, name: str, value: str) -> dict[str, Any]:
        match name:
            case options.MODE:
                self._mode = options.mode_of(value)
                self._update({"sessionUpdate": "current_mode_update", "currentModeId": value})
            case options.MODEL:
                await self._place.select(value)
            case options.EFFORT:
                await self._place.select(options.with_effort(self._place.model, value))
            case _:
                raise RequestError(f"there is no option {name!r}")
        return {"configOptions": self._options}

    async def close(self) -> None:
        self.cancel()
        await self._tasks.close()
        await self._place.close()

    async def _settle(self) -> None:
        """Be where the person is: in the Odin of an editor, also of one that was opened since; if that has ended, in
        one of its own. Nothing is moved while a turn runs."""
        async with self._settling:
            if self._turns or (isinstance(self._place, Attached) and self._place.is_open):
                return
            found = await self._attached()
            if found is not None or not self._place.is_open:
                await self._enter(found or self._own(), await self._left())

    async def _left(self) -> str | None:
        """The id of the conversation, which can be gone on with elsewhere."""
        with suppress(OdinError):
            return await self._place.leave()
        return self._place.session_id

    async def _enter(self, place: Place, session_id: str | None) -> None:
        self._place, self._telling.root = place, place.root
        await place.begin(session_id, self._hear)

    async def _attached(self) -> Attached | None:
        """To another Odin; if that does not want to, the client is told why, once."""
        try:
            return await attached(self._given, self._client, self._editor) if self._attaches else None
        except OdinError as error:
            why, before = str(error), self._refusal
            self._refusal = why
            if why != before:
                self._editor.notify("warning", APART.format(why=why))
            return None

    def _own(self) -> Own:
        workspace = Workspace(
            *self._given.folders,
            editor=self._editor,
            buffers=self._buffers,
            mcp_servers=self._servers,
            hooks=[self._files.before_call] if self._client.fs.read_text_file else [],
        )
        self._editor.decide = workspace.decide
        return Own(workspace, self._given.folders[0].resolve())

    @property
    def _options(self) -> list[dict[str, Any]]:
        place = self._place
        offered = options.config_options(self._mode, place.model, place.models, place.efforts(place.model))
        return [fit_object(it) for it in offered]

    async def _list_commands(self) -> None:
        """After the answer that tells the client of the session."""
        found = [it for it in await self._place.commands() if it.name not in ELSEWHERE]
        commands = [
            {"name": it.name, "description": it.description} | ({"input": {"hint": it.hint}} if it.hint else {})
            for it in found
        ]
        for update in (*self._untold, {"sessionUpdate": "available_commands_update", "availableCommands": commands}):
            self._update(update)

    def _hear(self, record: EventRecord) -> None:
        if record.session_id not in ("", self._place.session_id):
            return
        for update in self._telling.told(record):
            self._update(update)
        match record.event:
            case ModelChanged() | RoleChanged():
                self._update({"sessionUpdate": "config_option_update", "configOptions": self._options})
            case TurnFinished(outcome) if outcome.plan and (path := path_of(outcome.plan)):
                self._update(plan(self._place.steps(path)))
            case _:
                pass

    def _update(self, update: Update) -> None:
        if self.id:
            self._peer.notify("session/update", {"sessionId": self.id, "update": self._outgoing.fit_update(update)})
        else:
            self._untold.append(update)

    async def _ask(self, method: str, params: Mapping[str, Any]) -> Any:
        return await self._peer.ask(method, {"sessionId": self.id, **params})

    async def _ask_person(self, method: str, params: Mapping[str, Any]) -> Any:
        """Unlike what the client is asked itself, such as to write a file, this is shown."""
        return await self._ask(method, fit_object(params))


def _answer(outcome: Outcome) -> Mapping[str, Any]:
    if outcome.reason == "failed":
        raise Refused(INTERNAL, outcome.detail or "the turn has failed")
    return {"stopReason": STOP_REASONS[outcome.reason]}
