"""A session in the Odin that has its folder open: an editor's, or one that a terminal has started."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from odin_lsp.acp.editor import AcpEditor
from odin_lsp.acp.places import Command, Hear, Turn
from odin_lsp.acp.prompts import Said
from odin_lsp.acp.wire import ClientAbilities, SessionPlace
from odin_lsp.events import EventRecord
from odin_lsp.host import place as hosts
from odin_lsp.host.remote import RemoteSession, RemoteWorkspace, model_names
from odin_lsp.host.remote import attached as attached_to
from odin_lsp.library import Answer, Decision, Question, Review, ReviewAnswer, Usage
from odin_lsp.library.workspace import plan_steps
from odin_lsp.models.reference import ModelRef
from odin_lsp.modes import Mode
from odin_lsp.ports import Level
from odin_lsp.records import Todo

SERVERS_UNUSED = (
    "the Odin of your editor does the work here, and it does not use the MCP servers of this client: {names}. To use"
    " them there, add them by `odin-lsp mcp add`."
)


async def attached(place: SessionPlace, client: ClientAbilities, editor: AcpEditor) -> "Attached | None":
    """To the Odin that has all of its folders open; `None` if there is none. `OdinError` says why that does not want
    to. One without an editor knows neither what the client has not saved nor its MCP servers: where there is such,
    the session is better off by itself."""
    folders = [it.resolve() for it in place.folders]
    owners = [hosts.owner_of(it) for it in folders]
    owner = owners[0]
    if owner is None or any(it is None or it.pid != owner.pid for it in owners):
        return None
    if owner.is_resident and (client.fs.read_text_file or place.mcp_servers):
        return None
    remote = await attached_to(folders[0], {}, _Answers(editor, reviews=owner.is_resident))
    if remote is None:
        return None
    if place.mcp_servers:
        editor.notify("warning", SERVERS_UNUSED.format(names=", ".join(it.name for it in place.mcp_servers)))
    await remote.tell_notices()
    return Attached(remote, editor, await remote.execute("odin.model"))


class _Answers:
    """The client answers for its own turns. Its changes are reviewed in the editor, if there is one."""

    can_ask = True
    is_for_own = True

    def __init__(self, editor: AcpEditor, *, reviews: bool) -> None:
        self._editor = editor
        self._reviews = reviews

    async def ask(self, question: Question) -> Answer | None:
        return await self._editor.ask(question)

    async def review(self, review: Review) -> ReviewAnswer | None:
        return await self._editor.review(review) if self._reviews else None

    def notify(self, level: Level, message: str) -> None:
        self._editor.notify(level, message)


class Attached:
    def __init__(self, remote: RemoteWorkspace, editor: AcpEditor, models: Mapping[str, Any]) -> None:
        self.root = remote.root
        self._remote = remote
        self._models = models
        self._session: RemoteSession
        editor.decide = self._decide

    @property
    def session_id(self) -> str:
        return self._session.id

    @property
    def usage(self) -> Usage:
        return self._session.usage

    @property
    def model(self) -> str:
        return self._models["model"]

    @property
    def models(self) -> Sequence[str]:
        return model_names(self._models)

    @property
    def is_open(self) -> bool:
        return not self._remote.is_lost

    def efforts(self, model: str) -> Sequence[str]:
        return self._models["efforts"].get(ModelRef.of(model).model, ())

    async def select(self, model: str) -> None:
        """For this session alone."""
        self._models = await self._remote.execute("odin.model", model=model, sessionId=self._session.id)

    async def begin(self, session_id: str | None, hear: Hear) -> None:
        try:
            self._session = await self._remote.resume(session_id) if session_id else self._remote.begin()
            await self._session.named()
        except BaseException:
            await self.close()
            raise
        self._remote.subscribe(hear)

    async def events(self) -> AsyncIterator[EventRecord]:
        for record in await self._session.events():
            yield record

    def send(self, mode: Mode, text: str, said: Said) -> Turn:
        return self._session.send(mode, text, images=said.images, context=said.context)

    def steps(self, plan: Path) -> tuple[Todo, ...]:
        return plan_steps(plan)

    async def commands(self) -> Sequence[Command]:
        return await self._remote.slash_commands()

    async def leave(self) -> str | None:
        await self.close()
        return self._session.id if self._session.history else None

    async def close(self) -> None:
        await self._remote.close()

    async def _decide(self, decision: Decision) -> None:
        verb = decision.decision
        await self._remote.execute(f"odin.review.{verb}", hunkIds=[decision.hunk_id], reason=decision.reason)
