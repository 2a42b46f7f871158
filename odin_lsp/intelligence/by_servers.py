"""The best source of answers: language servers, which know what a name means. One that is still loading does not know
all of it, and says nothing wrong by that; who concludes something from what is missing does."""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odin_lsp.errors import OdinError
from odin_lsp.intelligence.code import around, symbols_in
from odin_lsp.intelligence.lsp import Location, Malformed, callable_of, each, hover_of, location_of, outline_of, span_of
from odin_lsp.intelligence.places import Place, moved
from odin_lsp.intelligence.questions import Answer, Asked, Found, What
from odin_lsp.intelligence.servers import Server, Servers, Unavailable
from odin_lsp.values import is_object
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import split_lines
from odin_lsp.workspace.uris import path_of

METHODS: Mapping[What, str] = {
    "definition": "textDocument/definition",
    "references": "textDocument/references",
    "callers": "textDocument/references",
    "implementations": "textDocument/implementation",
    "type": "textDocument/typeDefinition",
    "hover": "textDocument/hover",
}
OUTLINE, SYMBOLS = "textDocument/documentSymbol", "workspace/symbol"
PREPARE, INCOMING, OUTGOING = (
    "textDocument/prepareCallHierarchy",
    "callHierarchy/incomingCalls",
    "callHierarchy/outgoingCalls",
)
MAX_MEANT = 8
"""Definitions of one name that are asked about one by one."""
MAX_READ, MAX_PLACES, MAX_FILES = 10_000, 2_000, 400
"""Of an answer: what is read at all, and what is looked up in the files."""
MAX_TEXT = 4_000

Params = Callable[[Server], Mapping[str, Any]]


@dataclass(slots=True)
class Heard:
    """What servers have said to one question."""

    names: dict[str, None] = field(default_factory=dict[str, None])
    """Of those that have answered."""
    failed: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Those that have not, and to what: they are not asked that again."""
    is_loading: bool = False
    """Somebody is, so that the answer has gaps anyway, and takes its time."""
    spots: dict[str, set[int]] = field(default_factory=dict[str, set[int]])
    """By document, lines from 0."""
    text: str = ""
    more: int = 0
    """Places that nobody has looked at, since there are too many."""
    gaps: dict[str, None] = field(default_factory=dict[str, None])
    """What speaks against taking it for all there is."""
    notes: dict[str, None] = field(default_factory=dict[str, None])

    @property
    def source(self) -> str:
        return " and ".join(self.names)

    def doubt(self, reason: str) -> None:
        self.gaps[reason] = None

    def note(self, what: str) -> None:
        self.notes[what] = None

    def take(self, server: Server, read: Callable[[Any], Iterable[Location]], values: Sequence[Any]) -> None:
        """What can be read of these; of what cannot, it is said that it is missing."""
        self.more += max(0, len(values) - MAX_READ)
        for value in values[:MAX_READ]:
            try:
                for it in read(value):
                    self.spots.setdefault(it.uri, set()).add(it.span.start.line)
            except Malformed as error:
                self.doubt(f"not all that {server.name} has said can be read: {error}")


class ByServers:
    def __init__(self, files: Files, servers: Servers) -> None:
        self._files = files
        self._servers = servers

    async def ask(self, asked: Asked, places: Sequence[Place]) -> Answer | None:
        """`None`: there is nobody to ask."""
        heard = Heard()
        for place in places[:MAX_MEANT]:
            if heard.is_loading:
                break
            if asked.what in ("callers", "callees"):
                await self._calls(asked.what, place, heard)
            else:
                await self._located(asked.what, place, heard)
        if len(places) > MAX_MEANT:
            heard.doubt(
                f"{len(places)} have this name, and the first {MAX_MEANT} were asked about; name a file and line"
            )
        elif len(places) > 1:
            heard.note(f"{len(places)} have this name, and all are meant; to tell them apart, name a file and line")
        if not heard.spots and heard.names and asked.what in ("definition", "references"):
            heard.doubt(f"{heard.source} does not know what is meant")
        return await self._answer(asked, heard)

    async def outline(self, asked: Asked, path: Path) -> Answer | None:
        """Of the text on the screen; `None` if nobody is there who knows it."""
        heard = Heard()
        params = {"textDocument": {"uri": self._uri(path)}}
        told = await self._first(path, OUTLINE, lambda _: params, heard)
        if told is None or heard.gaps:
            return None
        try:
            symbols = sorted(outline_of(told[1]), key=lambda it: it.line)
        except Malformed:
            return None
        lines = split_lines(self._files.read(path).text)
        wanted = [it for it in symbols if (asked.line or 1) - 1 <= it.line < len(lines)]
        found = (Found(path, it.line + 1, lines[it.line], depth=it.depth) for it in wanted)
        return Answer(tuple(found), told[0].name, is_complete=True)

    async def symbols(self, asked: Asked, documents: Iterable[Path]) -> Answer | None:
        """Those that have the word in their name, by the servers of these documents."""
        heard = Heard()
        word = asked.symbol.lower()
        for path in documents:
            if told := await self._first(path, SYMBOLS, lambda _: {"query": asked.symbol}, heard):
                named = [it for it in each(told[1]) if is_object(it) and word in str(it.get("name")).lower()]
                heard.take(told[0], lambda it: [location_of(it.get("location"))], named)
        return await self._answer(asked, heard)

    async def _located(self, what: What, place: Place, heard: Heard) -> None:
        about = {"context": {"includeDeclaration": what == "references"}} if what in ("references", "callers") else {}
        told = await self._first(place.path, METHODS[what], lambda it: {**_at(place, it), **about}, heard)
        if told is None:
            return
        server, result = told
        if what == "hover":
            heard.text = heard.text or hover_of(result)[:MAX_TEXT]
        else:
            heard.take(server, lambda it: [location_of(it)], each(result))

    async def _calls(self, what: What, place: Place, heard: Heard) -> None:
        prepared = await self._first(place.path, PREPARE, lambda it: _at(place, it), heard)
        if prepared is None:
            if what == "callers":
                heard.note("all uses are told, calls or not")
                await self._located(what, place, heard)
            return
        server, items = prepared
        for item in each(items):
            calls = await self._told(server, INCOMING if what == "callers" else OUTGOING, {"item": item}, heard)
            heard.take(server, _incoming if what == "callers" else _outgoing, each(calls))

    async def _first(self, path: Path, method: str, params: Params, heard: Heard) -> tuple[Server, Any] | None:
        """The first that offers it and has an answer."""
        try:
            servers = await self._servers.of(path)
        except Unavailable as error:
            heard.doubt(str(error))
            return None
        for server in servers:
            if (server.name, method) not in heard.failed and server.offers(method):
                result = await self._told(server, method, params(server), heard)
                if each(result):
                    return server, result
        return None

    async def _told(self, server: Server, method: str, params: Mapping[str, Any], heard: Heard) -> Any:
        try:
            told = await server.ask(method, params)
        except Unavailable as error:
            heard.doubt(f"{server.name} is not available: {error}")
            heard.failed.add((server.name, method))
            return None
        heard.names[server.name] = None
        if not told.is_ready:
            heard.is_loading = True
            heard.doubt(f"{server.name} has not read the whole project yet, so there may be more")
        return told.result

    async def _answer(self, asked: Asked, heard: Heard) -> Answer | None:
        if not heard.names and not heard.gaps:
            return None
        if asked.drafts and heard.names:
            heard.doubt(f"{heard.source} does not know your edits that wait for a review")
        found = await asyncio.to_thread(self._found, asked, heard)
        caveat = "; ".join([*heard.gaps, *heard.notes])
        return Answer(tuple(found), heard.source, not heard.gaps, caveat, heard.text, heard.more)

    def _found(self, asked: Asked, heard: Heard) -> list[Found]:
        """The lines that may be shown, by path."""
        lines_of: dict[Path, set[int]] = {}
        hidden = nowhere = 0
        for uri, lines in heard.spots.items():
            name = path_of(uri)
            path = Path(os.path.realpath(name)) if name is not None else None
            if path is None or name is None:
                nowhere += len(lines)
            elif self._files.ignore.hides(path) or self._files.ignore.hides(name):
                hidden += len(lines)
            else:
                lines_of.setdefault(path, set()).update(line + 1 for line in lines)
        if asked.folder is not None:
            elsewhere = [it for it in lines_of if not it.is_relative_to(asked.folder)]
            if count := sum(len(lines_of.pop(it)) for it in elsewhere):
                heard.note(f"{count} more elsewhere")
        found: list[Found] = []
        past = 0
        for path in sorted(lines_of)[:MAX_FILES]:
            here = self._found_in(path, sorted(lines_of[path])[:MAX_PLACES], asked) if len(found) < MAX_PLACES else []
            past += sum(it is None for it in here)
            found += [it for it in here if it is not None]
        if hidden:
            heard.note(f"{_places(hidden)} left out: their files are hidden")
        if nowhere:
            heard.note(f"{_places(nowhere)} left out: they are in documents that are no files")
        if past:
            heard.doubt(f"{_places(past)} left out: the lines are not there any more, or you have edited them")
        heard.more += sum(map(len, lines_of.values())) - len(found) - past
        return found

    def _found_in(self, path: Path, numbers: Sequence[int], asked: Asked) -> list[Found | None]:
        """Of those that are past the end, or that the model has edited since, nothing is known."""
        if not self._files.contains(path):
            return [Found(path, it, None) for it in numbers]
        try:
            text = self._files.read(path).text
        except OdinError:
            return [None for _ in numbers]
        lines = known = split_lines(text)
        places: list[int | None] = [it if it <= len(lines) else None for it in numbers]
        if path in asked.drafts:
            text = asked.drafts[path]
            known = split_lines(text)
            places = [moved(it, lines, known) for it in numbers]
        symbols = symbols_in(path, text)
        return [Found(path, it, known[it - 1], around(symbols, it)) if it is not None else None for it in places]

    def _uri(self, path: Path) -> str:
        buffer = self._files.buffers.of_path(path)
        return buffer.uri if buffer else path.as_uri()


def _at(place: Place, server: Server) -> dict[str, Any]:
    return {"textDocument": {"uri": place.uri}, "position": place.position(server.encoding)}


def _incoming(call: object) -> list[Location]:
    """Each place from which it is called."""
    if not is_object(call) or not is_object(caller := call.get("from")):
        raise Malformed("a call is none")
    uri = callable_of(caller).uri
    return [Location(uri, span_of(it)) for it in each(call.get("fromRanges"))] or [callable_of(caller)]


def _outgoing(call: object) -> list[Location]:
    if not is_object(call) or not is_object(called := call.get("to")):
        raise Malformed("a call is none")
    return [callable_of(called)]


def _places(count: int) -> str:
    return "1 place" if count == 1 else f"{count} places"
