"""What the editor sends along with a prompt: a selection, a file, a folder, diagnostics, the output of a command."""

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from pathlib import Path
from urllib.parse import unquote

from odin_lsp.agent.attaching import attachment, is_attachable
from odin_lsp.agent.quoting import quoted
from odin_lsp.errors import RequestError, ToolError
from odin_lsp.intelligence.problems import ordered
from odin_lsp.intelligence.servers import Problem, Problems, Servers
from odin_lsp.messages import Attachment
from odin_lsp.records import ContextItem, SentContext
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.text import Lines, Position
from odin_lsp.workspace.uris import path_of, printable

MAX_ITEM_CHARS = 30_000
MAX_LISTED = 300
"""Files of a folder."""
MAX_WITH_PROBLEMS = 20
"""Documents."""
PROBLEM_SECONDS = 2.0
"""How long language servers have to say what is wrong with a text."""
LEFT_OUT = "(left out: it looks like a secret, or the settings deny it; the user has been told)"
_PATH = re.compile(r"[^:/?#]*:(?://[^/?#]*)?([^?#]*)")


@dataclass(frozen=True, slots=True)
class Gathered:
    texts: tuple[str, ...]
    """The items for the model."""
    left_out: tuple[str, ...]
    """What the user should know of those that it does not get."""
    attached: tuple[Attachment, ...] = ()
    """Those that are no text."""
    sent: tuple[SentContext, ...] = ()
    """What the texts are, for people."""


async def looked_up(items: Sequence[ContextItem], servers: Servers, search: Search) -> list[ContextItem]:
    """The same items, and in those that ask for it what is wrong with a document, or which files a folder has."""
    listed = [await _listed(item, search) if item.kind == "folder" else item for item in items]
    return await _with_problems(listed, servers)


async def all_problems(servers: Servers) -> list[ContextItem]:
    """What language servers have reported so far, of any document."""
    known = [(path, it) for path, it in (await servers.problems((), 0)).items() if it.found]
    about = [ContextItem(kind="diagnostics", uri=path.as_uri()) for path, _ in known[:MAX_WITH_PROBLEMS]]
    told = [replace(item, content=_told(item, problems)) for item, (_, problems) in zip(about, known, strict=False)]
    return told or [ContextItem(kind="diagnostics", content="(none)")]


async def _listed(item: ContextItem, search: Search) -> ContextItem:
    path = _path(item.uri)
    if path is None or item.content is not None:
        return item
    try:
        found = await search.files(path)
    except ToolError as error:
        raise RequestError(str(error)) from None
    names = await asyncio.to_thread(nsmallest, MAX_LISTED, found.names)
    more = len(found.names) - MAX_LISTED
    rest = [f"({more:,} more files)"] if more > 0 else [] if found.is_whole else ["(there may be more files)"]
    return replace(item, content="\n".join([*names, *rest]) or "(no files)")


async def _with_problems(items: Sequence[ContextItem], servers: Servers) -> list[ContextItem]:
    paths = {item: _path(item.uri) for item in items if item.kind == "diagnostics" and item.content is None}
    asked = {path for path in paths.values() if path is not None}
    if not asked:
        return list(items)
    told = await servers.problems(asked, PROBLEM_SECONDS)
    return [replace(item, content=_told(item, told.get(path))) if (path := paths.get(item)) else item for item in items]


def as_it_stands(items: Sequence[ContextItem], files: Files) -> tuple[ContextItem, ...]:
    """The same items, with what is selected as it is now: it may be elsewhere, or gone, when they are sent."""
    return tuple(
        replace(item, content=_read(item, files)) if item.kind == "selection" and item.content is None else item
        for item in items
    )


def gathered(items: Sequence[ContextItem], files: Files) -> Gathered:
    """All that was sent along but for files that are hidden, be they open or sent word for word: an editor adds what is
    on the screen, and nobody has to think of what that is."""
    hidden = [item for item in items if item.uri is not None and _is_hidden(item.uri, files)]
    pictures = {item: path for item in items if item not in hidden and (path := _attachable(item))}
    return Gathered(
        tuple(
            _rendered(item, LEFT_OUT if item in hidden else _content(item, files))
            for item in items
            if item not in pictures
        ),
        tuple(
            f"{name} was not sent along: its name or `files.deny` says that no model reads it; `files.allow` makes an"
            " exception of names"
            for name in dict.fromkeys(printable(_name(item) or "") for item in hidden)
        ),
        tuple(attachment(path, files) for path in pictures.values()),
        tuple(_sent(item) for item in items if item not in hidden and item not in pictures),
    )


def _sent(item: ContextItem) -> SentContext:
    first = last = None
    if item.range is not None:
        start, end = item.range.start, item.range.end
        is_before = end.character == 0 and end.line > start.line  # of the last line nothing is selected
        first, last = start.line + 1, end.line + (0 if is_before else 1)
    name = item.name or item.source_command
    return SentContext(kind=item.kind, uri=item.uri, name=name, first_line=first, last_line=last)


def _attachable(item: ContextItem) -> Path | None:
    """Where the image or PDF is that the item is about."""
    path = _path(item.uri) if item.kind == "file" and item.content is None else None
    return path if path is not None and is_attachable(path) else None


def _path(uri: str | None) -> Path | None:
    path = path_of(uri) if uri else None
    return Path(os.path.realpath(path)) if path else None


def _told(item: ContextItem, problems: Problems | None) -> str:
    found = ordered(problems.found) if problems else []
    if item.range is not None:
        first, last = item.range.start.line, item.range.end.line
        found = [it for it in found if it.line <= last and it.end_line >= first]
    lines = [_described(it) for it in found]
    if problems is None or not problems.is_current:
        lines.append("(no language server has looked at the text as it stands now: there may be others)")
    return "\n".join(lines) or "(none)"


def _described(problem: Problem) -> str:
    source = f"{problem.source}: " if problem.source else ""
    code = f" [{problem.code}]" if problem.code else ""
    return f"line {problem.line + 1}: {problem.severity}: {source}{problem.message}{code}"


def _is_hidden(uri: str, files: Files) -> bool:
    """By the name, whatever the scheme: what a diff shows of a file's past is no less secret."""
    if path := path_of(uri):
        return any(files.ignore.hides(Path(it)) for it in (os.path.normpath(path), os.path.realpath(path)))
    found = _PATH.match(uri)
    name = unquote(found[1] if found else uri).encode("utf-8", "replace").decode()
    return files.ignore.hides(Path(os.path.normpath(f"/{name.lstrip('/')}")))


def _content(item: ContextItem, files: Files) -> str:
    """As the editor sent it, else as it is in the workspace."""
    content = item.content if item.content is not None else _read(item, files)
    if len(content) > MAX_ITEM_CHARS:
        return f"{content[:MAX_ITEM_CHARS]}\n({len(content) - MAX_ITEM_CHARS:,} more characters)"
    return content


def _rendered(item: ContextItem, content: str) -> str:
    about = {
        "kind": item.kind,
        "file": _name(item),
        "lines": f"{item.range.start.line + 1}-{item.range.end.line + 1}" if item.range else None,
        "command": item.source_command,
    }
    return quoted("context", about, content)


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
