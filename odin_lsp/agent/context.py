"""What the editor sends along with a prompt: a selection, a file, diagnostics, the output of a command."""

from dataclasses import dataclass
from typing import Literal

from odin_lsp.errors import RequestError, ToolError
from odin_lsp.ports import Range
from odin_lsp.values import Value
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import Lines, Position
from odin_lsp.workspace.uris import path_of

MAX_ITEM_CHARS = 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem(Value):
    kind: Literal["selection", "file", "diagnostics", "command", "text"]
    content: str | None = None
    uri: str | None = None
    range: Range | None = None
    version: int | None = None
    source_command: str | None = None


def rendered(item: ContextItem, files: Files) -> str:
    """The item for the model, with its text read from the workspace if the editor did not send it."""
    content = item.content if item.content is not None else _read(item, files)
    if len(content) > MAX_ITEM_CHARS:
        content = f"{content[:MAX_ITEM_CHARS]}\n({len(content) - MAX_ITEM_CHARS:,} more characters)"
    about = {
        "file": _name(item),
        "lines": f"{item.range.start.line + 1}-{item.range.end.line + 1}" if item.range else None,
        "command": item.source_command,
    }
    attributes = "".join(f' {key}="{value}"' for key, value in about.items() if value)
    return f'<context kind="{item.kind}"{attributes}>\n{content}\n</context>'


def _name(item: ContextItem) -> str | None:
    path = path_of(item.uri) if item.uri else None
    return str(path) if path else item.uri


def _read(item: ContextItem, files: Files) -> str:
    if item.uri is None:
        raise RequestError(f"a context item of kind {item.kind!r} needs `content` or `uri`")
    text = _text(item.uri, files)
    if item.range is None:
        return text
    start, end = (Position(it.line, it.character) for it in (item.range.start, item.range.end))
    return Lines(text).between(start, end, files.buffers.encoding)


def _text(uri: str, files: Files) -> str:
    if buffer := files.buffers.of_uri(uri):
        return buffer.text
    path = path_of(uri)
    if path is None:
        raise RequestError(f"{uri} is neither open nor a file; send its `content`")
    try:
        return files.read(files.resolve(str(path)).path).text
    except ToolError as error:
        raise RequestError(str(error)) from None
