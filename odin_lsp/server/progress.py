"""A turn as `$/progress`, which every editor can show and cancel."""

from lsprotocol import types

from odin_lsp.events import ActivityChanged, EventRecord, ToolStarted
from odin_lsp.server.rpc import ClientError, OdinProtocol

MAX_MESSAGE = 120


class TurnProgress:
    def __init__(self, protocol: OdinProtocol, token: types.ProgressToken, turn_id: str, title: str) -> None:
        self._protocol = protocol
        self._token = token
        self._turn_id = turn_id
        self._title = title
        self._begun = False

    async def create(self, timeout: float) -> bool:
        """Ask the client for a progress of ours; false if it does not want one."""
        try:
            params = types.WorkDoneProgressCreateParams(self._token)
            await self._protocol.ask_client(types.WINDOW_WORK_DONE_PROGRESS_CREATE, params, timeout)
        except (ClientError, TimeoutError):
            return False
        return True

    def begin(self) -> None:
        self._begun = True
        self._send(types.WorkDoneProgressBegin(title=self._title, cancellable=True))

    def follow(self, record: EventRecord) -> None:
        if not self._begun or record.turn_id != self._turn_id:
            return
        match record.event:
            case ActivityChanged():
                message = record.event.words
            case ToolStarted(description=description):
                message = description
            case _:
                return
        self._send(types.WorkDoneProgressReport(message=message[:MAX_MESSAGE], cancellable=True))

    def end(self) -> None:
        if self._begun:
            self._begun = False
            self._send(types.WorkDoneProgressEnd())

    def _send(
        self, value: types.WorkDoneProgressBegin | types.WorkDoneProgressReport | types.WorkDoneProgressEnd
    ) -> None:
        self._protocol.notify(types.PROGRESS, types.ProgressParams(self._token, value))
