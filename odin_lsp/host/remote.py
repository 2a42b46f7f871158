"""A workspace that another process has open: the methods of the library's, as far as a terminal needs them."""

import asyncio
import base64
import os
import socket
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from odin_lsp.errors import OdinError
from odin_lsp.events import EventRecord, QuestionAsked, SessionRenamed, TurnFinished, TurnStarted
from odin_lsp.host import place
from odin_lsp.host.connection import Connection
from odin_lsp.host.reading import read
from odin_lsp.host.terms import own_terms
from odin_lsp.host.told import Answers, Kept, LastTurn, Listed, Slash, Undone
from odin_lsp.modes import MODES, Mode
from odin_lsp.ports import Level, Question, Review
from odin_lsp.records import Outcome, Usage
from odin_lsp.tasks import Tasks
from odin_lsp.values import Value, is_object, to_camel

PROTOCOL = 1
PATIENCE = 10.0
"""Seconds for the first answer."""
COMMANDS: Mapping[Mode, str] = {mode: f"odin.{verb}" for verb, mode in MODES.items()}
LEVELS: Mapping[int, Level] = {1: "error", 2: "warning"}
ELSEWHERE = "answered elsewhere"
IN_EDITOR = "waiting for your answer in the editor"
NEW = "New session"
APART = "another Odin has this folder open, and is not used: {why}"


async def attached(folder: Path, settings: Mapping[str, Any], answers: Answers) -> "RemoteWorkspace | None":
    """To the Odin that has this folder open; `None` if there is none. `OdinError` says why that does not want to."""
    found = await asyncio.to_thread(place.connected, folder)
    return await introduced(found, folder, settings, answers) if found else None


async def introduced(
    found: socket.socket, folder: Path, settings: Mapping[str, Any], answers: Answers
) -> "RemoteWorkspace":
    """To who is at the other end; `OdinError` says why that does not want to."""
    connection = await Connection.over(found)
    odin = {"version": PROTOCOL, "events": True, "question": True, "review": True}
    params = {
        "processId": os.getpid(),
        "clientInfo": {"name": "odin-lsp"},
        "rootUri": folder.as_uri(),
        "capabilities": {"experimental": {"odin": odin}},
        "initializationOptions": own_terms(os.environ, settings),
    }
    try:
        async with asyncio.timeout(PATIENCE):
            said = await connection.ask("initialize", params)
    except OdinError:
        await connection.close()
        raise
    except TimeoutError:
        await connection.close()
        raise OdinError(f"it does not answer within {PATIENCE:.0f} s") from None
    connection.tell("initialized", {})
    return RemoteWorkspace(connection, said["capabilities"]["experimental"]["odin"], settings, answers)


class RemoteTurn:
    def __init__(self, turn_id: str, connection: Connection, ask: Callable[[], Any], tasks: Tasks) -> None:
        self.id = turn_id
        self.seen: Outcome | None = None
        """As an event has told it."""
        self._connection = connection
        self._tasks = tasks
        self._answer = asyncio.ensure_future(ask())

    async def outcome(self) -> Outcome:
        said = await asyncio.shield(self._answer)
        return read(Outcome, said) if is_object(said) and "reason" in said else self.seen or _nothing(self.id)

    def cancel(self) -> bool:
        if self._answer.done():
            return False
        self._tasks.begin(self._cancel())
        return True

    async def _cancel(self) -> None:
        with suppress(OdinError):
            await self._connection.execute("odin.cancel", turnId=self.id, drop=True, queue="next")


class RemoteSession:
    def __init__(self, workspace: "RemoteWorkspace", *, begins: bool, title: str = NEW) -> None:
        self._workspace = workspace
        self._begins = begins
        """It is to be a new one, once something is said."""
        self._one_at_a_time = asyncio.Lock()
        self.id = ""
        self.title = title
        self.usage = Usage()
        self.last_turn: LastTurn | None = None
        self.history: Sequence[object] = ()
        self._running: dict[str, None] = {}

    @property
    def is_busy(self) -> bool:
        return bool(self._running)

    def send(
        self, mode: Mode, text: str, *, images: Iterable[Path | bytes] = (), context: Sequence[Value] = ()
    ) -> RemoteTurn:
        beside = {"images": [_image(it) for it in images], "context": written(tuple(context))}
        more = {**self._workspace.per_message, **{name: it for name, it in beside.items() if it}}
        return self._begun(COMMANDS[mode], uuid.uuid4().hex, text=text, **more)

    async def events(self) -> Sequence[EventRecord]:
        """What has happened in it since it began."""
        pages: list[list[EventRecord]] = []
        before: int | None = None
        while not pages or before is not None:
            page = await self._workspace.execute("odin.session.events", sessionId=self.id, before=before)
            pages.append([read(EventRecord, it) for it in page["events"]])
            before = page.get("before")
        return [*chain.from_iterable(reversed(pages))]

    def compact(self, focus: str = "") -> RemoteTurn:
        return self._begun("odin.compact", uuid.uuid4().hex, focus=focus)

    def go_on(self) -> RemoteTurn:
        """The turn keeps its id, which is told when it begins."""
        return self._begun("odin.continue", None)

    def steer(self, text: str) -> bool:
        if not self._running:
            return False
        self._workspace.do(self._steer(text, next(iter(self._running))))
        return True

    def cancel(self) -> bool:
        """The turn that runs, whoever has begun it."""
        running = next(iter(self._running), None)
        if running:
            self._workspace.do(self._workspace.execute("odin.cancel", turnId=running, drop=True, queue="next"))
        return bool(running)

    def clear(self) -> None:
        self._workspace.do(self._workspace.execute("odin.clear", sessionId=self.id))

    def follow(self, record: EventRecord) -> None:
        if not self.id and record.turn_id in self._running:
            self.id = record.session_id
        if self.id != record.session_id:
            return
        match record.event:
            case TurnStarted():
                self._running[record.turn_id] = None
                self.history = (*self.history, record.turn_id)
            case TurnFinished(outcome):
                self._running.pop(record.turn_id, None)
                self.usage = self.usage.plus(outcome.usage)
            case SessionRenamed(title):
                self.title = title
            case _:
                pass

    async def _steer(self, text: str, turn_id: str) -> None:
        said = await self._workspace.execute("odin.steer", text=text, turnId=turn_id)
        if not said["taken"]:
            self._workspace.answers.notify("warning", "the turn has ended before the model could read this")

    def _begun(self, command: str, turn_id: str | None, **argument: Any) -> RemoteTurn:
        if turn_id:
            self._running[turn_id] = None

        async def ask() -> Any:
            try:
                await self.named()
                named = {"turnId": turn_id} if turn_id else {}
                return await self._workspace.execute(command, sessionId=self.id or None, **named, **argument)
            finally:
                self._running.pop(turn_id or "", None)

        return self._workspace.watched(turn_id, ask)

    async def named(self) -> None:
        """Until it has an id, if it is a new one."""
        async with self._one_at_a_time:
            if self._begins:
                title = None if self.title == NEW else self.title
                said = await self._workspace.execute("odin.session.new", title=title)
                self.id, self._begins = said["sessionId"], False


class RemoteWorkspace:
    def __init__(
        self, connection: Connection, info: Mapping[str, Any], settings: Mapping[str, Any], answers: Answers
    ) -> None:
        self._connection = connection
        self.ask = connection.ask
        self.execute = connection.execute
        self.answers = answers
        self.model: str = info["model"]
        self.root = Path(info["roots"][0])
        """What names of files are relative to there, if it is the only one."""
        self._is_resident = bool(info.get("resident"))
        limits = settings.get("limits", {})
        given = {"temperature": settings.get("temperature"), "maxTokens": limits.get("maxTokens")}
        self.per_message = {name: value for name, value in given.items() if value is not None}
        self.turns: dict[str, RemoteTurn] = {}
        """Those that were begun here."""
        self._continued: RemoteTurn | None = None
        self._turn_of: dict[str, str] = {}
        """By question."""
        self._subscribers: list[Callable[[EventRecord], None]] = []
        self._sessions: list[RemoteSession] = []
        self._tasks = Tasks()
        connection.hear = self._hear
        connection.answer = self._answer

    async def __aenter__(self) -> "RemoteWorkspace":
        await self.tell_notices()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def tell_notices(self) -> None:
        """As one who works alone is told."""
        for it in (await self.execute("odin.notices"))["notices"]:
            self.answers.notify(it["level"], it["message"])

    async def close(self) -> None:
        await self._tasks.settled()
        await self._connection.close()

    @property
    def is_lost(self) -> bool:
        return self._connection.is_lost

    @property
    def session(self) -> RemoteSession:
        """The one that the host's editor shows; a new one, if it has none."""
        return self._known(RemoteSession(self, begins=self._is_resident))

    def begin(self, title: str | None = None) -> RemoteSession:
        return self._known(RemoteSession(self, begins=True, title=title or NEW))

    async def resume(self, session_id: str | None = None) -> RemoteSession:
        said = await self.execute("odin.session.resume", sessionId=session_id)
        session = RemoteSession(self, begins=False, title=said["title"])
        session.id = said["sessionId"]
        state = await self.execute("odin.state", sessionId=session.id)
        session.usage = read(Usage, state["usage"])
        session.history = state["messages"]
        session.last_turn = read(LastTurn, state["messages"][-1]) if state["messages"] else None
        return self._known(session)

    async def carry_out(
        self, plan: Path, steps: Sequence[int] | None = None, *, session_id: str | None = None
    ) -> RemoteTurn:
        """In the session of the plan, whichever is named."""
        turn_id = uuid.uuid4().hex
        uri, chosen = plan.absolute().as_uri(), list(steps) if steps is not None else None
        return self.watched(turn_id, lambda: self.execute("odin.executePlan", uri=uri, steps=chosen, turnId=turn_id))

    async def undo(self, turn_id: str | None = None, path: Path | None = None) -> Undone:
        said = await self.execute("odin.undoTurn", turnId=turn_id, uri=path.as_uri() if path else None)
        kept = tuple(Kept(_path(it["uri"]), it["reason"]) for it in said["kept"])
        return Undone(tuple(map(_path, said["restored"])), kept, said.get("undoId"))

    async def sessions(self, most: int = 100) -> list[Listed]:
        said = await self.execute("odin.session.list", limit=most)
        return [read(Listed, it) for it in said["sessions"]]

    async def files(self) -> list[str]:
        return (await self.execute("odin.files"))["files"]

    async def model_names(self) -> list[str]:
        return model_names(await self.execute("odin.model"))

    async def slash_commands(self) -> list[Slash]:
        return [read(Slash, it) for it in (await self.execute("odin.slashCommands"))["commands"]]

    def subscribe(self, subscriber: Callable[[EventRecord], None]) -> Callable[[], None]:
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def watched(self, turn_id: str | None, ask: Callable[[], Any]) -> RemoteTurn:
        turn = RemoteTurn(turn_id or "", self._connection, ask, self._tasks)
        if turn_id:
            self.turns[turn_id] = turn
        else:
            self._continued = turn
        return turn

    def do(self, work: Any) -> None:
        """Beside everything else; what goes wrong is told."""
        self._tasks.begin(self._do(work))

    async def _do(self, work: Any) -> None:
        try:
            await work
        except OdinError as error:
            self.answers.notify("error", str(error))

    def _known(self, session: RemoteSession) -> RemoteSession:
        self._sessions.append(session)
        return session

    def _hear(self, method: str, params: Any) -> None:
        match method:
            case "odin/event":
                self._take(read(EventRecord, params))
            case "window/showMessage" if level := LEVELS.get(params["type"]):
                self.answers.notify(level, params["message"].removeprefix("Odin: "))
            case _:
                pass

    def _take(self, record: EventRecord) -> None:
        match record.event:
            case QuestionAsked(question):
                self._turn_of[question.question_id] = record.turn_id
            case TurnStarted() if self._continued is not None:
                self._continued.id, self.turns[record.turn_id] = record.turn_id, self._continued
                self._continued = None
            case TurnFinished(outcome) if turn := self.turns.get(record.turn_id):
                turn.seen = outcome
            case _:
                pass
        for session in self._sessions:
            session.follow(record)
        for subscriber in tuple(self._subscribers):
            subscriber(record)

    async def _answer(self, method: str, params: Any) -> Any:
        try:
            match method:
                case "odin/question":
                    question = read(Question, params)
                    is_meant = self._is_meant(self._turn_of.get(question.question_id, ""))
                    return written(await self.answers.ask(question)) if is_meant else None
                case "odin/review":
                    review = read(Review, params)
                    is_meant = self._is_meant(review.turn_id)
                    return written(await self.answers.review(review)) if is_meant else None
                case _:
                    return None
        except asyncio.CancelledError:
            self.answers.notify("info", ELSEWHERE)
            raise

    def _is_meant(self, turn_id: str) -> bool:
        """Where nobody can be asked here, an editor asks; without one, that is a no."""
        is_own = not self.answers.is_for_own or turn_id in self.turns
        can_answer = self.answers.can_ask or self._is_resident
        if is_own and not can_answer:
            self.answers.notify("info", IN_EDITOR)
        return is_own and can_answer


def written(value: Any) -> Any:
    """An answer as JSON; what is `None` is left out."""
    if isinstance(value, tuple):
        return [written(it) for it in cast("tuple[Any, ...]", value)]
    if not isinstance(value, Value):
        return value
    parts = {to_camel(name): getattr(value, name) for name in type(value).__slots__}
    return {name: written(it) for name, it in parts.items() if it is not None}


def _image(given: Path | bytes) -> dict[str, str]:
    if isinstance(given, bytes):
        return {"data": base64.b64encode(given).decode()}
    return {"uri": given.absolute().as_uri()}


def _path(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path))


def _nothing(turn_id: str) -> Outcome:
    return Outcome(turn_id=turn_id, session_id="", mode="ask_mode", reason="end_turn", answer="")


def model_names(told: Mapping[str, Any]) -> list[str]:
    """Of what `odin.model` answers: those that there is a key for, and what accounts have besides."""
    of_accounts = (it["ref"] for listing in told.get("accounts", ()) for it in listing["models"])
    return list(dict.fromkeys([*told["available"], *of_accounts]))
