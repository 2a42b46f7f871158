"""The offline model: reads a request, decides, and streams the decision like any other model."""

import re
from collections.abc import AsyncIterator

from odin_lsp.messages import Message, Text, ToolCall
from odin_lsp.models.base import CallReady, Connection, Reply, Request, StreamEvent, TextDelta
from odin_lsp.models.offline import edits, search
from odin_lsp.models.offline.answers import page
from odin_lsp.models.offline.turn import Call, Move, Turn, read_turn
from odin_lsp.models.reference import ModelRef


def connect(ref: ModelRef, _connection: Connection) -> "OfflineModel":
    return OfflineModel(ref.name)


class OfflineModel:
    """Keeps nothing between requests: the same request always gets the same reply."""

    def __init__(self, name: str) -> None:
        self._ref = f"offline/{name}"

    @property
    def ref(self) -> str:
        return self._ref

    async def stream(self, request: Request) -> AsyncIterator[StreamEvent]:
        move = _decide(read_turn(request))
        if isinstance(move, str):
            for chunk in re.findall(r".+?(?:\n\n|\Z)", move, re.DOTALL):
                yield TextDelta(chunk)
            yield Reply(Message("assistant", (Text(move),), origin=self.ref), "end")
        else:
            calls = _with_ids(move, request)
            for call in calls:
                yield CallReady(call)
            yield Reply(Message("assistant", calls, origin=self.ref), "tools")

    async def aclose(self) -> None:
        """Nothing is open."""


def _decide(turn: Turn) -> Move:
    if turn.mode != "edit_mode":
        return search.question(turn)
    if _INIT_TOOL in turn.prompt and (move := _initialise(turn)):
        return move
    if edit := edits.parse(turn.prompt):
        return edits.carry_out(edit, turn)
    move = search.question(turn)
    return f"{edits.ONLY_LITERAL}\n\n{move}" if isinstance(move, str) else move


_INIT_TOOL = "InitTool"


def _initialise(turn: Turn) -> Move | None:
    """`odin.init` asks for the tool by its name."""
    if not (tried := turn.results(_INIT_TOOL)):
        return turn.offered([Call(_INIT_TOOL, {})]) or None
    return page(f"Asked to write ODIN.md. {_INIT_TOOL} said: {tried[0].result.content.partition(chr(10))[0]}")


def _with_ids(calls: tuple[Call, ...], request: Request) -> tuple[ToolCall, ...]:
    used = (call.id for message in request.messages for call in message.calls)
    last = max((int(match[1]) for one in used if (match := re.fullmatch(r"offline_(\d+)", one))), default=0)
    return tuple(ToolCall(f"offline_{last + n}", call.name, call.arguments) for n, call in enumerate(calls, 1))
