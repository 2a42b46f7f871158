"""What any editor shows in its own window: messages, questions with buttons, the log, and progress. All of it is made
fit to be shown here. Some editors draw it in a terminal, and some make links of it."""

from collections.abc import Sequence

from lsprotocol import types

from odin_lsp.display import shown_line
from odin_lsp.markdown import unlinked
from odin_lsp.ports import Level
from odin_lsp.server.rpc import OdinProtocol

LEVELS: dict[Level, types.MessageType] = {
    "info": types.MessageType.Info,
    "warning": types.MessageType.Warning,
    "error": types.MessageType.Error,
}
MOST_OF_BUTTON = 200
MOST_OF_PROGRESS = 120


def show_message(protocol: OdinProtocol, level: Level, text: str) -> None:
    protocol.notify(types.WINDOW_SHOW_MESSAGE, types.ShowMessageParams(LEVELS[level], unlinked(text)))


def log_message(protocol: OdinProtocol, text: str) -> None:
    protocol.notify(types.WINDOW_LOG_MESSAGE, types.LogMessageParams(types.MessageType.Info, unlinked(text)))


async def ask_with_buttons(protocol: OdinProtocol, title: str, detail: str, labels: Sequence[str]) -> int | None:
    """Which of the labels was chosen, by its place; `None` if none was."""
    buttons = _told_apart([unlinked(shown_line(it, MOST_OF_BUTTON)) for it in labels])
    params = types.ShowMessageRequestParams(
        types.MessageType.Info,
        unlinked(f"{shown_line(title)}\n{detail}".strip()),
        [types.MessageActionItem(it) for it in buttons],
    )
    chosen = await protocol.ask_client(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
    return buttons.index(chosen.title) if chosen and chosen.title in buttons else None


def begin_progress(protocol: OdinProtocol, token: types.ProgressToken, title: str) -> None:
    begin = types.WorkDoneProgressBegin(title=shown_line(title, MOST_OF_PROGRESS), cancellable=True)
    protocol.notify(types.PROGRESS, types.ProgressParams(token, begin))


def report_progress(protocol: OdinProtocol, token: types.ProgressToken, message: str) -> None:
    report = types.WorkDoneProgressReport(message=shown_line(message, MOST_OF_PROGRESS), cancellable=True)
    protocol.notify(types.PROGRESS, types.ProgressParams(token, report))


def end_progress(protocol: OdinProtocol, token: types.ProgressToken) -> None:
    protocol.notify(types.PROGRESS, types.ProgressParams(token, types.WorkDoneProgressEnd()))


def _told_apart(labels: list[str]) -> list[str]:
    """Editors answer with the label: where two are the same, as they are shown, all are numbered."""
    return labels if len(set(labels)) == len(labels) else [f"{number}. {it}" for number, it in enumerate(labels, 1)]
