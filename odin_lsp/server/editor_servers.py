"""The language servers that the editor runs, asked through the editor. What they say is checked by whoever reads it."""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from odin_lsp.config import Timeouts
from odin_lsp.errors import RequestError
from odin_lsp.intelligence.diagnostics import problem_of, severity_of
from odin_lsp.intelligence.servers import Problems, Server, Told, Unavailable
from odin_lsp.reading import start_of
from odin_lsp.server.diagnostics import SOURCE
from odin_lsp.server.rpc import ClientError, OdinProtocol
from odin_lsp.server.wire_editor import (
    DocumentDiagnostics,
    EditorAnswers,
    EditorDiagnostics,
    EditorDiagnosticsParams,
    EditorRequest,
)
from odin_lsp.server_states import ServerState
from odin_lsp.values import from_wire, is_list, to_wire
from odin_lsp.workspace.buffers import MAX_COMPARED, Buffers
from odin_lsp.workspace.text import Lines, PositionEncoding, decode
from odin_lsp.workspace.uris import document_key, path_of

logger = logging.getLogger("odin.editor")

PROBE = "textDocument/documentSymbol"
"""Whoever knows a language answers it; linters and formatters do not."""
PROBE_SECONDS = 2.0
NOBODY_SECONDS = 5.0
"""How long it is believed that the editor has no server for a language: it may just be starting one."""
EDITORS_SHARE = 0.9
"""Of the time that Odin waits: the editor is to answer before nobody listens any more."""
ANSWER_SECONDS = 1.0
"""For an editor to answer, apart from what it waits for."""
JOINED = frozenset(
    {
        *("textDocument/definition", "textDocument/references", "textDocument/implementation"),
        *("textDocument/typeDefinition", "textDocument/codeAction", "workspace/symbol"),
    }
)
"""What several servers may each know a part of. Of all else the first answer with something in it is taken."""
UNNAMED = "the editor"
"""Whoever reports diagnostics without a source."""
DONE_ALREADY = frozenset({"codeAction/resolve"})


class EditorServers:
    def __init__(
        self, protocol: OdinProtocol, buffers: Buffers, answers: Collection[str], timeouts: Callable[[], Timeouts]
    ) -> None:
        self._protocol = protocol
        self._buffers = buffers
        self._answers = answers
        self._timeouts = timeouts
        self._serving: dict[str, tuple[str, ...]] = {}
        """By the ending of a file's name, which stands for its language."""
        self._nobody: dict[str, float] = {}
        """Likewise: until when nobody is looked for again."""

    @property
    def encoding(self) -> PositionEncoding:
        return self._buffers.encoding

    async def of(self, path: Path) -> Sequence[Server]:
        names = await self._names(path) if "request" in self._answers else ()
        return (EditorServer(self, path, " and ".join(names)),) if names else ()

    async def problems(self, paths: Collection[Path], patience: float) -> Mapping[Path, Problems]:
        if "diagnostics" not in self._answers:
            return {}
        asked = {self._uri(path): path for path in paths}
        by_key = {document_key(uri): path for uri, path in asked.items()}
        found: dict[Path, Problems] = {}
        for item in await self._diagnostics(tuple(asked), patience if paths else 0):
            path = by_key.get(document_key(item.uri)) if paths else self._path(item.uri)
            if path is not None and (lines := await self._lines(path)) is not None:
                found[path] = self._problems(item, lines)
        return found

    async def all_states(self) -> Sequence[ServerState]:
        """Those that have answered Odin, and those whose diagnostics the editor shows."""
        items = await self._diagnostics((), 0) if "diagnostics" in self._answers else ()
        counts: dict[str, Counter[str]] = {name: Counter() for names in self._serving.values() for name in names}
        counted: set[str] = set()
        for diagnostic in (it for item in items for it in item.diagnostics):
            source = diagnostic.get("source")
            if source != SOURCE:
                name = source if isinstance(source, str) and source else UNNAMED
                counted.add(name)
                counts.setdefault(name, Counter())[severity_of(diagnostic)] += 1
        return tuple(
            ServerState(
                name=name,
                root="",
                state="ready",
                owner="editor",
                errors=count["error"] if name in counted else None,
                warnings=count["warning"] if name in counted else None,
            )
            for name, count in counts.items()
        )

    async def close(self) -> None:
        """They are the editor's."""

    async def ask(self, path: Path, method: str, params: Mapping[str, Any], seconds: float) -> EditorAnswers:
        """Of all who serve the document. Raises `Unavailable`."""
        asked = EditorRequest(
            method=method,
            uri=self._uri(path),
            params=dict(params),
            timeout_ms=_milliseconds(seconds * EDITORS_SHARE),
        )
        try:
            told = from_wire(
                EditorAnswers, await self._protocol.ask_client("odin/editor/request", to_wire(asked), seconds)
            )
        except TimeoutError:
            raise Unavailable(f"the editor did not answer {method} in time") from None
        except ClientError as error:
            raise Unavailable(f"the editor could not ask its language servers: {error}") from None
        except RequestError as error:
            raise Unavailable(f"the editor's answer to {method} cannot be read: {error}") from None
        if not (told.answers or told.late or told.failed):
            self._serving.pop(_language(path), None)
        return told

    @property
    def patience(self) -> float:
        return self._timeouts().client

    async def _diagnostics(self, uris: tuple[str, ...], patience: float) -> Sequence[DocumentDiagnostics]:
        """What the editor knows of these documents; without any, of all."""
        params = EditorDiagnosticsParams(uris=uris, patience_ms=_milliseconds(patience))
        try:
            told = await self._protocol.ask_client(
                "odin/editor/diagnostics", to_wire(params), patience + ANSWER_SECONDS
            )
            return from_wire(EditorDiagnostics, told).items
        except (ClientError, TimeoutError, RequestError) as error:
            logger.warning("odin/editor/diagnostics: %s", str(error) or "the editor did not answer in time")
            return ()

    async def _names(self, path: Path) -> tuple[str, ...]:
        language = _language(path)
        if (known := self._serving.get(language)) is not None:
            return known
        if monotonic() < self._nobody.get(language, 0):
            return ()
        params = {"textDocument": {"uri": self._uri(path)}}
        try:
            told = await self.ask(path, PROBE, params, min(PROBE_SECONDS, self.patience))
        except Unavailable as error:
            logger.warning("%s", error)
            told = EditorAnswers(answers=())
        names = tuple(dict.fromkeys((*(it.server for it in (*told.answers, *told.failed)), *told.late)))
        if names:
            self._serving[language] = names
        else:
            self._nobody[language] = monotonic() + NOBODY_SECONDS
        return names

    def _problems(self, item: DocumentDiagnostics, lines: Lines) -> Problems:
        found = (problem_of(it, lines, self.encoding) for it in item.diagnostics)
        buffer = self._buffers.of_uri(item.uri)
        is_of_this_text = item.version is None or (buffer is not None and buffer.version == item.version)
        return Problems(
            tuple(it for it in found if it is not None and it.source != SOURCE), item.current and is_of_this_text
        )

    def _uri(self, path: Path) -> str:
        """As the editor spells it, if it has the document open."""
        buffer = self._buffers.of_path(path)
        return buffer.uri if buffer is not None else path.as_uri()

    def _path(self, uri: str) -> Path | None:
        buffer = self._buffers.of_uri(uri)
        return buffer.path if buffer is not None else path_of(uri)

    async def _lines(self, path: Path) -> Lines | None:
        buffer = self._buffers.of_path(path)
        if buffer is not None:
            return buffer.lines if buffer.synchronised else None
        return await asyncio.to_thread(_lines_on_disk, path)


@dataclass(frozen=True, slots=True)
class EditorServer:
    """All that serve one document: which of them knows an answer is the editor's business."""

    _servers: EditorServers
    _path: Path
    name: str

    @property
    def encoding(self) -> PositionEncoding:
        return self._servers.encoding

    def offers(self, method: str) -> bool:
        """Only asking tells; code actions come resolved."""
        return method not in DONE_ALREADY

    async def ask(self, method: str, params: Mapping[str, Any]) -> Told:
        told = await self._servers.ask(self._path, method, params, self._servers.patience)
        if not told.answers:
            raise Unavailable(f"{method}: {_why_none(told)}")
        is_ready = all(it.ready for it in told.answers) and not told.late and not told.failed
        if method in JOINED:
            return Told(_joined([it.result for it in told.answers]), is_ready)
        first = next((it for it in told.answers if it.result), None)
        return Told(None, is_ready) if first is None else Told(first.result, first.ready)


def _why_none(told: EditorAnswers) -> str:
    failed = (f"{it.server}: {it.reason}" for it in told.failed)
    late = (f"{it} did not answer in time" for it in told.late)
    return "; ".join((*failed, *late)) or "no language server offers it"


def _joined(results: Sequence[object]) -> list[Any]:
    """One list without what several have said; where LSP allows one for a list, or nothing, as well."""
    lists = [result if is_list(result) else [] if result is None else [result] for result in results]
    return list({json.dumps(it, sort_keys=True): it for listed in lists for it in listed}.values())


def _language(path: Path) -> str:
    return path.suffix or path.name


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)


def _lines_on_disk(path: Path) -> Lines | None:
    try:
        data = start_of(path, MAX_COMPARED + 1)
    except OSError:
        return None
    content = decode(data) if data is not None and len(data) <= MAX_COMPARED else None
    return Lines(content.text) if content else None
