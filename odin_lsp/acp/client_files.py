"""The client's own view of files. Its text counts where it is seen to be another than on disk: not all clients that
serve files serve what is not saved."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from odin_lsp.acp.wire import FileAbilities, FileText
from odin_lsp.errors import RequestError, ToolError
from odin_lsp.json_rpc import ClientError
from odin_lsp.library import Buffers, HookDecision
from odin_lsp.values import from_wire, is_list
from odin_lsp.workspace import disk
from odin_lsp.workspace.text import Change

READ, WRITE = "fs/read_text_file", "fs/write_text_file"
SECONDS = 5.0
"""How long the client has to answer."""
TYPED = "somebody has typed there meanwhile"
NOT_SAVED = "the client has unsaved changes in it, and cannot be told to change them; save the file first"
NAMES = ("file_path", "path", "source", "destination")
"""Arguments of tools that name a file."""

Ask = Callable[[str, Mapping[str, Any]], Awaitable[Any]]


class ClientFiles:
    """One session's. What the client has not saved is in `buffers`, as it was when it was last looked at: before each
    call, for the files that the call names and for those that are known to be unsaved."""

    def __init__(self, ask: Ask, abilities: FileAbilities, buffers: Buffers, folders: Sequence[Path]) -> None:
        self._ask = ask
        self._abilities = abilities
        self._buffers = buffers
        self._folders = {it.resolve(): it for it in folders}
        """What the client calls each folder, which may be a link."""
        self._one_at_a_time = asyncio.Lock()

    async def before_call(self, event: str, call: Mapping[str, Any]) -> HookDecision:
        if event == "PreToolUse" and self._abilities.read_text_file:
            await self.look(*self._named(call.get("arguments") or {}))
        return HookDecision()

    async def look(self, *paths: Path) -> None:
        """Know what the client has of these files and of those that were unsaved before."""
        if not self._abilities.read_text_file:
            return
        async with self._one_at_a_time:
            known = [it.path for it in self._buffers if it.path is not None]
            for path in dict.fromkeys((*known, *(it.resolve() for it in paths))):
                await self._look(path)

    def is_unsaved(self, path: Path) -> bool:
        return self._buffers.of_path(path) is not None

    async def write(self, path: Path, before: str, text: str) -> str | None:
        """Have the client put `text` in the place of `before`, which it has not saved; why not, if it did not."""
        if not self._abilities.write_text_file:
            return NOT_SAVED
        async with self._one_at_a_time:
            await self._look(path)
            buffer = self._buffers.of_path(path)
            if buffer is None or buffer.text != before:
                return TYPED
            try:
                async with asyncio.timeout(SECONDS):
                    await self._ask(WRITE, {"path": self._called(path), "content": text})
            except (ClientError, TimeoutError) as error:
                return str(error) or "the client did not answer in time"
            await self._look(path)
        return None

    def _named(self, arguments: Mapping[str, Any]) -> Iterator[Path]:
        listed: object = arguments.get("file_paths")
        for name in (*(arguments.get(it) for it in NAMES), *(listed if is_list(listed) else ())):
            if isinstance(name, str) and name and "\0" not in name:
                yield next(iter(self._folders)) / name

    def _called(self, path: Path) -> str | None:
        """What the client calls the file; `None` if it is in none of the folders."""
        real = next((it for it in self._folders if path.is_relative_to(it)), None)
        return str(self._folders[real] / path.relative_to(real)) if real else None

    async def _look(self, path: Path) -> None:
        name = self._called(path)
        before = await asyncio.to_thread(_on_disk, path) if name else None
        if before is None:
            return
        try:
            async with asyncio.timeout(SECONDS):
                text = from_wire(FileText, await self._ask(READ, {"path": name})).content
        except (ClientError, RequestError, TimeoutError):
            return
        after = await asyncio.to_thread(_on_disk, path)
        self._take(path, text, is_saved=any(it is not None and _same(text, it) for it in (before, after)))

    def _take(self, path: Path, text: str, *, is_saved: bool) -> None:
        buffer, uri = self._buffers.of_path(path), path.as_uri()
        if is_saved:
            self._buffers.close(uri)
        elif buffer is None:
            self._buffers.open(uri, 1, text)
        elif buffer.text != text:
            self._buffers.change(uri, buffer.version + 1, [Change(text)])


def _same(one: str, other: str) -> bool:
    """But for what clients lose on the way: marks of the encoding, kinds of line ends, and the last one."""
    return _plain(one) == _plain(other)


def _plain(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").rstrip("\n")


def _on_disk(path: Path) -> str | None:
    try:
        return disk.read_text(path).text
    except ToolError:
        return None
