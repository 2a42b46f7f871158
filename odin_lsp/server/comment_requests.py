"""Comments as requests: what is offered at them, as they are in the buffers. A person's click begins the turn."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from odin_lsp.errors import OdinError
from odin_lsp.intelligence.requests import MARK, CommentRequest, RequestKind, requests_in
from odin_lsp.ports import Position, Range
from odin_lsp.server.host import Host, Work
from odin_lsp.values import Value
from odin_lsp.workspace.buffers import Buffer
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Query
from odin_lsp.workspace.text import split_lines
from odin_lsp.workspace.uris import path_of

KIND = "quickfix.odin"
MAX_TOGETHER = 50
TITLES: dict[RequestKind, tuple[str, str]] = {
    "edit": ("Odin: Do this", "Odin: Do all {}"),
    "ask": ("Odin: Answer this", "Odin: Answer all {}"),
}
WISHES: dict[RequestKind, str] = {
    "edit": "Do what these comments in the code ask for. The change that answers a comment also removes the comment.",
    "ask": "Answer what these comments in the code ask. Change nothing.",
}


@dataclass(frozen=True, slots=True)
class CommentRequestsParams(Value):
    """`odin.commentRequests`: comments of the workspace that end in `odin!` or `AI!` (`edit`), or in `odin?` or `AI?`
    (`ask`), in open documents as they are on the screen. None with the setting `commentRequests` off."""

    kind: RequestKind


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRequest(Value):
    uri: str
    range: Range
    """The lines of the comment."""
    kind: RequestKind
    text: str
    """Without the marks of the comment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRequests(Value):
    requests: tuple[FoundRequest, ...]
    """The first 50."""
    text: str
    """What to send by `odin.edit` or `odin.ask`, with `typed: false`, to have all of them done or answered; empty if
    there are none."""


async def lenses(server: Host, uri: str) -> list[types.CodeLens]:
    """Above each comment; the first one of a kind also offers all those of the open documents."""
    here = await _requests_of(server, server.buffers.of_uri(uri))
    return [types.CodeLens(_line(it), command=command) for it, command in await _offered(server, here)]


async def actions_at(server: Host, params: types.CodeActionParams) -> list[types.CodeAction]:
    """The same as quick fixes."""
    first, last = params.range.start.line, params.range.end.line
    here = await _requests_of(server, server.buffers.of_uri(params.text_document.uri))
    offered = await _offered(server, [it for it in here if it.range.start.line <= last and first < it.range.end.line])
    return [types.CodeAction(it.title, kind=KIND, command=it) for _, it in offered]


async def of_workspace(server: Work, kind: RequestKind) -> FoundRequests:
    files, paths = server.core.files, list[Path]()
    if server.project.now.config.comment_requests:
        for root in files.search_roots:
            hits, _ = await server.core.search.grep(Query(pattern=MARK, ignore_case=True), root)
            paths += dict.fromkeys(hit.path for hit in hits)
    found = await asyncio.to_thread(lambda: [it for path in paths for it in _read(files, path) if it.kind == kind])
    chosen = found[:MAX_TOGETHER]
    return FoundRequests(requests=tuple(chosen), text=_message(files, chosen) if chosen else "")


async def _requests_of(server: Host, buffer: Buffer | None) -> list[FoundRequest]:
    if not server.project.now.config.comment_requests:
        return []
    files = server.core.files
    if buffer is None or buffer.path is None or not buffer.synchronised or not files.contains(buffer.path):
        return []
    found = await asyncio.to_thread(requests_in, buffer.path, buffer.text)
    return [] if found and files.ignore.hides(buffer.path) else [_found(buffer.uri, it) for it in found]


def _read(files: Files, path: Path) -> list[FoundRequest]:
    try:
        found = requests_in(path, files.read(path, to_edit=True).text)
    except OdinError:
        return []  # gone, or no text, since it was found
    return [_found(path.as_uri(), it) for it in found]


def _found(uri: str, it: CommentRequest) -> FoundRequest:
    return FoundRequest(
        uri=uri, range=Range(Position(it.first - 1, 0), Position(it.last, 0)), kind=it.kind, text=it.text
    )


async def _offered(server: Host, here: Sequence[FoundRequest]) -> list[tuple[FoundRequest, types.Command]]:
    """What can be done with these, each with where that is offered."""
    if not here:
        return []
    files, everywhere = server.core.files, [found for it in server.buffers for found in await _requests_of(server, it)]
    offered: list[tuple[FoundRequest, types.Command]] = []
    kinds: set[RequestKind] = set()
    for it in here:
        alone, together = TITLES[it.kind]
        offered.append((it, _command(alone, files, [it])))
        alike = [other for other in everywhere if other.kind == it.kind][:MAX_TOGETHER]
        if it.kind not in kinds and len(alike) > 1:
            offered.append((it, _command(together.format(len(alike)), files, alike)))
        kinds.add(it.kind)
    return offered


def _line(it: FoundRequest) -> types.Range:
    at = types.Position(it.range.start.line, 0)
    return types.Range(at, at)


def _command(title: str, files: Files, requests: Sequence[FoundRequest]) -> types.Command:
    return types.Command(
        title, f"odin.{requests[0].kind}", arguments=[{"text": _message(files, requests), "typed": False}]
    )


def _message(files: Files, requests: Sequence[FoundRequest]) -> str:
    return "\n\n".join([WISHES[requests[0].kind], *(_quoted(files, it) for it in requests)])


def _quoted(files: Files, it: FoundRequest) -> str:
    path, first, last = path_of(it.uri), it.range.start.line + 1, it.range.end.line
    lines = f"line {first}" if first == last else f"lines {first}-{last}"
    return "\n".join(
        [f"{files.shown(path) if path else it.uri}, {lines}:", *(f"> {line}" for line in split_lines(it.text))]
    )
