"""What an agent's own tool would do to files, as calls of Odin's tools."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odin_lsp.errors import ToolError
from odin_lsp.hook_door import patches
from odin_lsp.hook_door.replacing import replacements
from odin_lsp.values import is_list, is_object
from odin_lsp.workspace.text import usual_line_end, whole_lines

NAMES = {
    "edit": "edit",
    "replace": "edit",
    "multiedit": "edits",
    "write": "write",
    "write_file": "write",
    "apply_patch": "patch",
    "patch": "patch",
}
"""Tools of Claude Code, Codex, Gemini CLI and opencode, in small letters."""
FILE = ("file_path", "filePath", "path")
OLD, NEW = ("old_string", "oldString"), ("new_string", "newString")
EVERYWHERE = ("replace_all", "replaceAll", "allow_multiple")
PATCH = ("command", "patchText", "input", "patch")


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    arguments: Mapping[str, Any]
    needs_reading: bool = True
    """What is edited must have been read."""


TextOf = Callable[[Path], Awaitable[str]]
"""The text of a file on disk, as the agent has seen it; `ToolError` if there is none, or none that may be read."""


async def calls_of(tool: str, given: Mapping[str, Any], folder: Path, text_of: TextOf) -> list[Call]:
    """Raises `ToolError` if this is nothing that Odin can review. No file is looked at but by `text_of`: what may not
    be read must not be told apart by what is said here."""
    match NAMES.get(tool.lower()):
        case "edit":
            return [await _edit(given, folder, text_of)]
        case "edits":
            edits = given.get("edits")
            if not is_list(edits):
                raise ToolError("`edits` is missing")
            path = _path(given, folder)
            return [Call("MultiEditTool", {"file_path": str(path), "edits": [_replacement(it) for it in edits]})]
        case "write":
            return [await _write(_path(given, folder), _text(given, ("content",)), text_of)]
        case "patch":
            patch_of_each = patches.parse(_text(given, PATCH))
            return [call for patch in patch_of_each async for call in _patch(patch, folder, text_of)]
        case _:
            raise ToolError(f"Odin cannot review what {tool} does; use a tool that edits or writes a text file")


async def _edit(given: Mapping[str, Any], folder: Path, text_of: TextOf) -> Call:
    path, change = _path(given, folder), _replacement(given)
    if not change["old_string"] and not await _readable_text(path, text_of):
        return await _write(path, change["new_string"], text_of)
    return Call("EditTool", {"file_path": str(path), **change})


async def _write(path: Path, content: str, text_of: TextOf) -> Call:
    """The new text of a file is what the agent has changed in the text on disk: what is unsaved in an editor stays. Of
    what has no text, or none that may be read, Odin's tool says what becomes of it."""
    old = await _readable_text(path, text_of)
    if not old:
        return Call("WriteFile", {"file_path": str(path), "content": content}, needs_reading=old is not None)
    return await asyncio.to_thread(_changed, path, old, content)


async def _readable_text(path: Path, text_of: TextOf) -> str | None:
    try:
        return await text_of(path)
    except ToolError:
        return None


def _changed(path: Path, old: str, new: str) -> Call:
    end = usual_line_end(whole_lines(old))
    new = new if end == "\n" or "\r" in new else new.replace("\n", end)
    if new == old:
        raise ToolError(f"{path} has this text already")
    edits = [{"old_string": it.old, "new_string": it.new} for it in replacements(old, new)]
    return Call("MultiEditTool", {"file_path": str(path), "edits": edits})


async def _patch(patch: patches.Patch, folder: Path, text_of: TextOf) -> AsyncIterator[Call]:
    path = folder / patch.path
    match patch.head:
        case patches.ADD:
            yield await _write(path, "".join(f"{line}\n" for line in patch.content), text_of)
        case patches.DELETE:
            yield Call("DeleteFile", {"file_path": str(path)})
        case _:
            if patch.chunks:
                old = await text_of(path)
                yield await asyncio.to_thread(_patched, path, old, patch)
            if patch.new_path:
                yield Call("MoveFile", {"file_path": str(path), "new_path": str(folder / patch.new_path)})


def _patched(path: Path, old: str, patch: patches.Patch) -> Call:
    return _changed(path, old, patches.patched(old.replace("\r\n", "\n"), patch))


def _replacement(given: object) -> dict[str, Any]:
    if not is_object(given):
        raise ToolError("an edit must be an object")
    several = any(given.get(name) is True for name in EVERYWHERE) or given.get("expected_replacements", 1) != 1
    return {"old_string": _text(given, OLD), "new_string": _text(given, NEW), "replace_all": several}


def _path(given: Mapping[str, Any], folder: Path) -> Path:
    return folder / _text(given, FILE)


def _text(given: Mapping[str, Any], names: tuple[str, ...]) -> str:
    text = next((given[name] for name in names if name in given), None)
    if not isinstance(text, str):
        raise ToolError(f"`{names[0]}` is missing")
    return text
