"""What a command prints: made harmless, its beginning and end kept at hand, all of it in a file."""

import codecs
import os
import re
from collections.abc import Callable
from pathlib import Path

from odin_lsp import system

MAX_SHOWN_CHARS = 30_000
MAX_BYTES = 64 * 1024 * 1024
"""A command that prints more than this is not going to say anything useful; it is ended."""
LONGEST_ESCAPE = 4096
_ESCAPE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # titles, links, the clipboard
    r"|\x1b[ -/]+[0-~]|\x1b[0-OQ-WYZ\\`-~]"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\x9c]*\x1b?|[ -/]*)\Z|\r\Z")
"""What may still become an escape sequence, or a line end, at the end of a piece."""
_LONG_RUN = re.compile(r"([\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f])\1{3,}")
_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r"}


class Cleaner:
    """Bytes in any pieces → text that can be sent, stored and shown: valid, without escapes, other controls visible."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, data: bytes, *, final: bool = False) -> str:
        text = self._held + self._decoder.decode(data, final)
        unfinished = None if final else _UNFINISHED.search(text, max(0, len(text) - LONGEST_ESCAPE))
        self._held = unfinished[0] if unfinished else ""
        return _harmless(text[: len(text) - len(self._held)])


def _harmless(text: str) -> str:
    if "\x1b" in text:
        text = _ESCAPE.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _LONG_RUN.sub(_counted, text).translate(_VISIBLE)


def _counted(run: re.Match[str]) -> str:
    return f"{_VISIBLE[ord(run[1])]} ({len(run[0]):,} times)"


class Output:
    """Holds no more than is shown; the file is made when that is not all of it."""

    def __init__(self, path: Path, watch: Callable[[str], None], *, always_in_file: bool = False) -> None:
        self.path = path
        self.bytes = 0
        """As the command printed them."""
        self._watch = watch
        self._cleaner = Cleaner()
        self._head = ""
        self._tail = ""
        self._chars = 0
        self._written = 0
        self._file: int | None = None
        self._problem = ""
        if always_in_file:
            self._open()

    @property
    def too_long(self) -> bool:
        return max(self.bytes, self._written) > MAX_BYTES

    @property
    def shown(self) -> str:
        """All of it, or its beginning and its end, in whole lines, with a note between them."""
        if self._chars <= MAX_SHOWN_CHARS:
            return self._head
        head, tail = self._head[: MAX_SHOWN_CHARS // 2], self._tail
        head, tail = head[: head.rfind("\n")] if "\n" in head else head, tail[tail.find("\n", 0, -1) + 1 :]
        where = self._problem or f"all of it is in {self.path}; use Read or Grep on it"
        return f"{head}\n… ({self._chars - len(head) - len(tail):,} characters left out; {where}) …\n{tail}"

    def feed(self, data: bytes, *, final: bool = False) -> None:
        self.bytes += len(data)
        text = self._cleaner.feed(data, final=final)
        if not text:
            return
        if self._file is None and self._chars + len(text) > MAX_SHOWN_CHARS:
            self._open()
            self._write(self._head)
        if self._file is not None:
            self._write(text)
        self._head += text[: MAX_SHOWN_CHARS - len(self._head)]
        self._tail = (self._tail + text)[-MAX_SHOWN_CHARS // 2 :]
        self._chars += len(text)
        self._watch(text)

    def close(self) -> None:
        self.feed(b"", final=True)
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> None:
        if self._problem:
            return
        try:
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.OWN, 0o600)
        except OSError as error:
            self._problem = f"it could not be kept: {error.strerror}"

    def _write(self, text: str) -> None:
        data = memoryview(text.encode())
        try:
            while self._file is not None and data:
                count = os.write(self._file, data)
                self._written += count
                data = data[count:]
        except OSError as error:
            self._problem = f"only a part of it could be kept: {error.strerror}"
            if self._file is not None:
                os.close(self._file)
                self._file = None
