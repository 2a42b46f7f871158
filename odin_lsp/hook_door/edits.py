"""What an agent's own tool would do to files, as calls of Odin's tools."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odin_lsp.errors import ToolError
from odin_lsp.hook_door import patches
from odin_lsp.hook_door.replacing import replacements
from odin_lsp.values import is_list, is_object
from odin_lsp.workspace import disk
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


def calls_of(tool: str, given: Mapping[str, Any], folder: Path) -> Iterator[Call]:
    """Raises `ToolError` if this is nothing that Odin can review. Files are as they are on disk: so the agent has seen
    them."""
    match NAMES.get(tool.lower()):
        case "edit":
            yield _edit(given, folder)
        case "edits":
            edits = given.get("edits")
            if not is_list(edits):
                raise ToolError("`edits` is missing")
            path = _path(given, folder)
            yield Call("MultiEditTool", {"file_path": str(path), "edits": [_replacement(it) for it in edits]})
        case "write":
            yield _write(_path(given, folder), _text(given, ("content",)))
        case "patch":
            for patch in patches.parse(_text(given, PATCH)):
                yield from _patch(patch, folder)
        case _:
            raise ToolError(f"Odin cannot review what {tool} does; use a tool that edits or writes a text file")


def _edit(given: Mapping[str, Any], folder: Path) -> Call:
    path, change = _path(given, folder), _replacement(given)
    if not change["old_string"] and not path.exists():
        return _write(path, change["new_string"])
    return Call("EditTool", {"file_path": str(path), **change})


def _write(path: Path, content: str) -> Call:
    """The new text of a file is what the agent has changed in the text on disk: what is unsaved in an editor stays."""
    old = disk.read_text(path.resolve()).text if path.exists() else ""
    if not old:
        return Call("WriteFile", {"file_path": str(path), "content": content}, needs_reading=path.exists())
    return _changed(path, old, content)


def _changed(path: Path, old: str, new: str) -> Call:
    end = usual_line_end(whole_lines(old))
    new = new if end == "\n" or "\r" in new else new.replace("\n", end)
    if new == old:
        raise ToolError(f"{path} has this text already")
    edits = [{"old_string": it.old, "new_string": it.new} for it in replacements(old, new)]
    return Call("MultiEditTool", {"file_path": str(path), "edits": edits})


def _patch(patch: patches.Patch, folder: Path) -> Iterator[Call]:
    path = folder / patch.path
    match patch.head:
        case patches.ADD:
            yield _write(path, "".join(f"{line}\n" for line in patch.content))
        case patches.DELETE:
            yield Call("DeleteFile", {"file_path": str(path)})
        case _:
            if patch.chunks:
                old = disk.read_text(path.resolve()).text
                yield _changed(path, old, patches.patched(old.replace("\r\n", "\n"), patch))
            if patch.new_path:
                yield Call("MoveFile", {"file_path": str(path), "new_path": str(folder / patch.new_path)})


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
