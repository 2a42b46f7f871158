"""Messages that are written in a document, where the editor has no input box: opened, written, and sent as they stand.

The text in the buffer counts, saved or not. Of a document that the editor has opened without telling Odin, the saved
text counts, and it is sent from elsewhere."""

import asyncio
import os
import re
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from odin_lsp import private_files, state_folder
from odin_lsp.agent.context import as_it_stands
from odin_lsp.errors import RequestError, SessionError
from odin_lsp.modes import Mode
from odin_lsp.reading import start_of
from odin_lsp.records import ContextItem
from odin_lsp.server.features.code_actions import SEND
from odin_lsp.server.host import Host
from odin_lsp.server.wire import MessageParams
from odin_lsp.values import Value
from odin_lsp.workspace.uris import path_of, printable

HEAD = """<!-- Odin: {what}.
Write your message below this comment. To send it, choose the code action
“{title}” in this document{how}.
Saving the document does not send it. -->

"""
END = "-->"
WHAT: dict[Mode, str] = {"ask_mode": "Ask about", "plan_mode": "Plan a change of", "edit_mode": "Edit"}
HOW = {"Eglot": " (M-x eglot-code-actions)", "helix": " (Space a)"}
"""Where code actions are found, by the names of editors."""
MAX_BYTES = 1024 * 1024
KEPT_SECONDS = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Instruction:
    """What a message is about, and what becomes of it."""

    mode: Mode
    context: tuple[ContextItem, ...] = ()
    session_id: str | None = None
    wording: str = "{}"
    """The message, with what was written in place of the braces."""


@dataclass(frozen=True, slots=True)
class Opened(Value):
    """A document was opened for a message; `odin.send` sends it."""

    uri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SendParams(Value):
    """`odin.send`: a turn with the message that is written in the document, as it is in the editor. The answer is its
    `Outcome`."""

    uri: str
    """The document that `odin.prompt` has opened."""
    turn_id: str | None = None


class Instructions:
    def __init__(self, server: Host) -> None:
        self._server = server
        self._opened: dict[Path, Instruction] = {}
        self._sent: dict[Path, str] = {}

    async def open(self, instruction: Instruction) -> str:
        """Have the user write the message; the URI of the document."""
        files = self._server.core.files
        context = as_it_stands(instruction.context, files)
        about = f"{WHAT[instruction.mode]} {self._subject(context)}".replace(END, "")
        how = HOW.get(self._server.abilities.client, "")
        head = HEAD.format(what=about, title=SEND, how=how)
        name = f"{instruction.mode.removesuffix('_mode')}-{_name(context)}-{secrets.token_hex(2)}.md"
        path = state_folder.folder() / "instructions" / name
        try:
            await asyncio.to_thread(_write, path, head)
        except (OSError, SessionError) as error:
            raise RequestError(f"could not create a document for your message: {error}") from error
        self._opened[Path(os.path.realpath(path))] = replace(instruction, context=context)
        if not await self._server.editor.open_document(path.as_uri(), head.count("\n")):
            self._server.editor.notify("info", f"Write your message in {path} and save it. Then choose “{SEND}”.")
        return path.as_uri()

    def knows(self, uri: str) -> bool:
        """Whether messages are written in this document."""
        return _canonical(uri) in self._opened

    def elsewhere(self) -> Iterator[Path]:
        """Documents with a message that was saved and not sent, which the editor has not told Odin of."""
        for path in self._opened:
            if self._server.buffers.of_path(path) is None and _written(_saved(path)) not in ("", self._sent.get(path)):
                yield path

    def is_first_line(self, uri: str, line: int) -> bool:
        """Whether the message begins on this line."""
        buffer = self._server.buffers.of_uri(uri)
        above = "\n".join(buffer.text.split("\n")[:line]) if buffer else ""
        return END in above and not _written(above)

    def message(self, uri: str) -> tuple[Mode, MessageParams]:
        """What is written in the document, to be sent."""
        path = _canonical(uri)
        instruction = self._opened.get(path) if path else None
        if path is None or instruction is None:
            raise RequestError(f"{uri} was not opened for a message since Odin was started; open a new one")
        buffer = self._server.buffers.of_path(path)
        if buffer is not None and not buffer.synchronised:
            raise RequestError(f"the text of {path.name} in the editor is not known; close the document, open it again")
        text = _written(buffer.text if buffer else _saved(path))
        if not text:
            raise RequestError(f"{path.name} contains no message yet; write it below the comment")
        self._sent[path] = text
        message = MessageParams(
            text=instruction.wording.format(text), session_id=instruction.session_id, context=instruction.context
        )
        return instruction.mode, message

    def _subject(self, context: tuple[ContextItem, ...]) -> str:
        for item in context:
            path = path_of(item.uri) if item.uri else None
            if path is None or item.range is None:
                continue
            first, last = item.range.start.line + 1, item.range.end.line + bool(item.range.end.character)
            lines = f"line {first}" if last <= first else f"lines {first}-{last}"
            return f"{self._server.core.files.shown(Path(os.path.realpath(path)))}, {lines}"
        return _name(context)


def _name(context: tuple[ContextItem, ...]) -> str:
    paths = (path_of(item.uri) for item in context if item.uri)
    name = next((path.name for path in paths if path), "message")
    return re.sub(r"[^\w.-]+", "-", printable(name))[:40]


def _canonical(uri: str) -> Path | None:
    path = path_of(uri)
    return Path(os.path.realpath(path)) if path else None


def _write(path: Path, text: str) -> None:
    """Those that nobody has touched for a week go."""
    private_files.write_file(path, [text.encode("utf-8", "replace")], durable=False)
    for other in path.parent.glob("*.md"):
        if other.lstat().st_mtime < time.time() - KEPT_SECONDS:
            other.unlink(missing_ok=True)


def _saved(path: Path) -> str:
    try:
        data = start_of(path, MAX_BYTES)
    except OSError:
        return ""
    return (data or b"").decode("utf-8", "replace")


def _written(text: str) -> str:
    """Without the head, if it is still there."""
    head, end, rest = text.partition(END)
    return (rest if end and head.startswith(HEAD[:4]) else text).strip()
