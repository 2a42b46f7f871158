"""One language server of Odin's own, from its start to its end."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from odin_lsp import __version__
from odin_lsp.commands.environment import child_environment, find_virtual_environment
from odin_lsp.commands.runner import Spec
from odin_lsp.intelligence.servers import Problem, Problems, Told, Unavailable
from odin_lsp.language_servers import capabilities, reported
from odin_lsp.language_servers.capabilities import PULL, Offered
from odin_lsp.language_servers.choosing import Around, Candidate
from odin_lsp.language_servers.client import Client
from odin_lsp.language_servers.documents import Documents, Sent
from odin_lsp.language_servers.readiness import Readiness
from odin_lsp.language_servers.reported import MAX_PROBLEMS, NOT_KNOWN, Report, Reports
from odin_lsp.language_servers.versions import without_versions
from odin_lsp.permissions import sandbox
from odin_lsp.values import is_list, is_object
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.text import PositionEncoding
from odin_lsp.workspace.uris import path_of

OF_ONE_DOCUMENT = frozenset({"textDocument/documentSymbol", "textDocument/formatting"})
"""What can be answered without the rest of the project."""
EDITING = frozenset({"textDocument/rename", "textDocument/codeAction", "codeAction/resolve"})
KEPT_BACK = 0.25
"""Of the time for a question: for the answer, whether or not the server is ready then."""


class OwnServer:
    def __init__(
        self,
        candidate: Candidate,
        root: Path,
        around: Around,
        files: Files,
        search: Search,
        scratch: Path,
        ended: Callable[[str], None],
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """`scratch`: a folder of its own, gone when it has ended. `ended` is told why it cannot be asked any more, and
        `changed` that it has told something of its work or of problems."""
        self._known = candidate.known
        self._candidate = candidate
        self._root = root
        self._around = around
        self._scratch = scratch
        self._ended = ended
        self._changed = changed
        self._client = Client(self.name, self._answer, self._hear, self._end_early)
        self._offered = Offered()
        self._readiness = Readiness(self._known.ready)
        self._reports = Reports()
        self._documents = Documents(
            root, self._known.languages, self._known.markers, files, search, self._client.notify
        )
        self._last: tuple[Path, ...] = ()
        self.in_use = 0
        self.used_at = time.monotonic()

    @property
    def name(self) -> str:
        return self._known.name

    @property
    def encoding(self) -> PositionEncoding:
        return self._offered.encoding

    @property
    def is_ready(self) -> bool:
        return self._readiness.is_ready

    @property
    def counted(self) -> tuple[int | None, int | None]:
        """Errors and warnings in what it has reported last of each document; none, if it has reported of none."""
        return self._reports.counted

    @property
    def pid(self) -> int | None:
        return self._client.pid

    @property
    def complaints(self) -> str:
        """What it printed last for people."""
        return self._client.complaints

    def offers(self, method: str) -> bool:
        return self._offered.has(method)

    def meant_for(self, path: Path) -> None:
        """It is going to be asked about this file, though not all questions name one."""
        self._last = (path,)
        self.used_at = time.monotonic()

    async def start(self, timeout: float) -> None:
        await self._client.start(await asyncio.to_thread(self._spec))
        looking = asyncio.create_task(self._documents.look_at_disk())
        try:
            answer = await self._client.request("initialize", self._introduction(), timeout)
        finally:
            await looking
        said = answer.get("capabilities") if is_object(answer) else None
        if not is_object(said):
            raise Unavailable(f"{self.name} does not say what it can do")
        self._offered.said = said
        self._documents.wants_changes = self._offered.wants_changes
        self._client.notify("initialized", {})
        if self._known.settings:
            self._client.notify("workspace/didChangeConfiguration", {"settings": self._known.settings})
        self.used_at = time.monotonic()

    async def ask(self, method: str, params: Mapping[str, Any]) -> Told:
        timeout = self._around.settings.timeout
        until = time.monotonic() + timeout
        path, asked = _as_shown(params)
        with self._used():
            await self._show(self._last if path is None else (path,))
            is_ready = method in OF_ONE_DOCUMENT or await self._readiness.by(until - KEPT_BACK * timeout)
            result = await self._client.request(method, asked, max(0.0, until - time.monotonic()))
        return Told(without_versions(result, self._is_version) if method in EDITING else result, is_ready)

    async def problems(self, paths: Collection[Path], patience: float) -> Mapping[Path, Problems]:
        """Of each of these documents that it serves."""
        until = time.monotonic() + patience
        with self._used():
            await self._show(paths)
            found = await asyncio.gather(*(self._problems(path, until) for path in paths))
        return dict(zip(paths, found, strict=True))

    def reported(self) -> Mapping[Path, Problems]:
        """What is known already of the texts as they stand."""
        told: dict[Path, Problems] = {}
        for path, sent in self._documents.sent.items():
            if report := self._reports.of(path.as_uri(), sent, self._documents.changed_at):
                is_current = self._knows_enough and self._documents.is_current(path)
                told[path] = Problems(self._in_words(sent, report), is_current)
        return told

    async def end(self) -> None:
        await self._client.end()
        await asyncio.to_thread(shutil.rmtree, self._scratch, ignore_errors=True)

    def _is_version(self, uri: str, version: int) -> bool:
        """Of a text that it was shown. One on disk has none, or 0 if gopls speaks of it."""
        path = path_of(uri)
        sent = self._documents.sent.get(path) if path is not None else None
        return version == (sent.version if sent is not None else 0)

    async def _show(self, paths: Collection[Path]) -> None:
        await self._documents.look_at_disk()
        self._documents.wants_saves = self._offered.wants_saves
        self._documents.bring(paths)
        self._readiness.shown()

    async def _problems(self, path: Path, until: float) -> Problems:
        sent, changed_at = self._documents.sent.get(path), self._documents.changed_at
        await self._readiness.by(until)
        if sent is None or not self._knows_enough:
            return NOT_KNOWN
        uri = path.as_uri()
        if self._offered.has(PULL):
            await self._pull(uri, sent.version, until)
            report = self._reports.of(uri, sent, changed_at)
        else:
            report = await self._reports.wait(uri, sent, changed_at, until)
        is_same = self._documents.changed_at == changed_at and self._documents.is_current(path)
        if not report or not is_same:
            return NOT_KNOWN
        told = await asyncio.to_thread(reported.problems, report.items, sent.text, self.encoding, self.name)
        return Problems(told, is_current=True)

    @property
    def _knows_enough(self) -> bool:
        """To tell of problems: one that only knows what is open does, and so does one that never says what it knows."""
        return self.is_ready or self._readiness.tells_nothing

    async def _pull(self, uri: str, version: int, until: float) -> None:
        asked_at = time.monotonic()
        with suppress(Unavailable):
            answer = await self._client.request(PULL, {"textDocument": {"uri": uri}}, max(0.0, until - asked_at))
            if (items := reported.items_of(answer)) is not None:
                self._reports.keep(uri, Report(items[:MAX_PROBLEMS], version, asked_at, is_answer=True))

    def _in_words(self, sent: Sent, report: Report) -> tuple[Problem, ...]:
        return reported.problems(report.items, sent.text, self.encoding, self.name)

    def _spec(self) -> Spec:
        """What only reads is held to it by the kernel, where that can. What runs the project's own programs could not
        work so; the folder is trusted then."""
        around, program = self._around, self._candidate.program
        assert program is not None  # noqa: S101
        environment = child_environment(
            os.environ,
            around.roots,
            secret_names=around.secret_names,
            virtual_environment=find_virtual_environment(self._root, around.roots) if around.is_trusted else None,
            temporary=self._scratch,
        )
        confinement = None
        if not self._known.runs_project:
            environment["XDG_CACHE_HOME"] = str(self._scratch)
            confinement = sandbox.confine(sandbox.Policy((self._scratch,)))
        argv = (str(program), *self._known.command[1:])
        return Spec(argv=argv, cwd=self._root, environment=environment, confinement=confinement)

    def _introduction(self) -> dict[str, Any]:
        return {
            "processId": None,  # held to reading it could not look whether that lives, and would end itself
            "clientInfo": {"name": "Odin", "version": __version__},
            "rootUri": self._root.as_uri(),
            "rootPath": str(self._root),
            "workspaceFolders": self._folders,
            "capabilities": capabilities.OWN,
            "initializationOptions": self._known.options,
        }

    @property
    def _folders(self) -> list[dict[str, str]]:
        return [{"uri": self._root.as_uri(), "name": self._root.name}]

    def _answer(self, method: str, params: Any) -> Any:
        """All is answered: many servers wait for it, some would end."""
        match method:
            case "workspace/configuration":
                return [self._known.settings.get(section) for section in _sections(params)]
            case "client/registerCapability":
                self._offered.register(params)
                return None
            case "client/unregisterCapability":
                self._offered.unregister(params)
                return None
            case "workspace/workspaceFolders":
                return self._folders
            case "workspace/applyEdit":
                return {"applied": False, "failureReason": "Odin changes files itself, after a review"}
            case "window/showDocument":
                return {"success": False}
            case _:
                return None

    def _hear(self, method: str, params: Any) -> None:
        if method == "textDocument/publishDiagnostics":
            self._reports.take(params)
        else:
            self._readiness.told(method, params)
        self._changed()

    def _end_early(self, reason: str) -> None:
        self._readiness.ended()
        self._ended(reason)

    @contextmanager
    def _used(self) -> Generator[None]:
        self.in_use += 1
        try:
            yield
        finally:
            self.in_use -= 1
            self.used_at = time.monotonic()


def _as_shown(params: Mapping[str, Any]) -> tuple[Path | None, Mapping[str, Any]]:
    """The document that a question is about, and the question with the name by which the server knows it: an editor may
    have its own, such as one with links."""
    for key in ("textDocument", "item"):
        part = params.get(key)
        uri = part.get("uri") if is_object(part) else None
        if is_object(part) and isinstance(uri, str) and (named := path_of(uri)) is not None:
            path = Path(os.path.realpath(named))
            return path, {**params, key: {**part, "uri": path.as_uri()}}
    return None, params


def _sections(params: Any) -> list[str]:
    items = params.get("items") if is_object(params) else None
    return [str(it.get("section")) if is_object(it) else "" for it in items] if is_list(items) else []
