"""A turn as `$/progress`, which every editor can show and cancel."""

from lsprotocol import types

from odin_lsp.events import ActivityChanged, EventRecord, ToolStarted
from odin_lsp.server.rpc import ClientError, OdinProtocol
from odin_lsp.server.window import begin_progress, end_progress, report_progress


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
        begin_progress(self._protocol, self._token, self._title)

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
        report_progress(self._protocol, self._token, message)

    def end(self) -> None:
        if self._begun:
            self._begun = False
            end_progress(self._protocol, self._token)
