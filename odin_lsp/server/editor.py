"""The editor's side of a turn over LSP, by what the client can do."""

import asyncio
from typing import Any

from lsprotocol import types

from odin_lsp.errors import RequestError
from odin_lsp.events import Level
from odin_lsp.ports import Answer, Question
from odin_lsp.server.client import Abilities
from odin_lsp.server.rpc import ClientError, OdinProtocol
from odin_lsp.values import from_wire, to_wire

LEVELS = {
    "info": types.MessageType.Info,
    "warning": types.MessageType.Warning,
    "error": types.MessageType.Error,
}


class LspEditor:
    def __init__(self, protocol: OdinProtocol) -> None:
        self._protocol = protocol
        self._one_at_a_time = asyncio.Lock()
        self.abilities = Abilities()
        self.person_timeout: float | None = None

    async def ask(self, question: Question) -> Answer | None:
        async with self._one_at_a_time:
            try:
                if self.abilities.question:
                    return await self._ask_odin(question)
                return await self._ask_anyone(question)
            except (ClientError, TimeoutError, RequestError):
                return None

    def notify(self, level: Level, message: str) -> None:
        self._protocol.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(LEVELS[level], f"Odin: {message}"))

    async def _ask_odin(self, question: Question) -> Answer | None:
        answer = await self._protocol.ask_client("odin/question", to_wire(question), self.person_timeout)
        if answer is None:
            return None
        given = from_wire(Answer, answer)
        known = {option.id for option in question.options}
        return given if known.issuperset(given.option_ids) else None

    async def _ask_anyone(self, question: Question) -> Answer | None:
        """A message with buttons: it knows no free text and one choice only."""
        if not question.options:
            return None
        params = types.ShowMessageRequestParams(
            types.MessageType.Info,
            f"{question.title}\n{question.detail}".strip(),
            [types.MessageActionItem(option.label) for option in question.options],
        )
        chosen: Any = await self._protocol.ask_client(types.WINDOW_SHOW_MESSAGE_REQUEST, params, self.person_timeout)
        return next((Answer((it.id,)) for it in question.options if chosen and it.label == chosen.title), None)
