"""Language servers in memory: one that says what it is told to, and one that knows words."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odin_lsp.intelligence.servers import Problem, Problems, Server, Told, Unavailable
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import Lines, Position, PositionEncoding
from odin_lsp.workspace.uris import path_of


@dataclass
class ScriptedServer:
    """Answers by method: a result, a function of the params, or an exception; it offers what it has answers for."""

    answers: dict[str, Any] = field(default_factory=dict[str, Any])
    name: str = "pyright"
    encoding: PositionEncoding = "utf-16"
    is_ready: bool = True
    asked: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list[tuple[str, Mapping[str, Any]]])

    def offers(self, method: str) -> bool:
        return method in self.answers

    async def ask(self, method: str, params: Mapping[str, Any]) -> Told:
        await asyncio.sleep(0)
        self.asked.append((method, params))
        answer = self.answers[method]
        if isinstance(answer, Exception):
            raise answer
        return Told(answer(params) if callable(answer) else answer, self.is_ready)


@dataclass
class ScriptedServers:
    servers: Sequence[Server] = ()
    serves: Callable[[Path], bool] = lambda _: True
    reported: Mapping[Path, Problems] = field(default_factory=dict[Path, Problems])

    async def of(self, path: Path) -> Sequence[Server]:
        return self.servers if self.serves(path) else ()

    async def problems(self, paths: Collection[Path], patience: float) -> Mapping[Path, Problems]:
        return {path: it for path, it in self.reported.items() if path in paths or not paths}

    async def close(self) -> None: ...


class CheckingServers(ScriptedServers):
    """Finds `use(NAME)` in Python files, where no file says `def NAME`, in the texts as they are on the screen."""

    def __init__(self, files: Files) -> None:
        super().__init__((ScriptedServer(),), lambda path: path.suffix == ".py")
        self.files = files
        self.asked: list[tuple[Collection[Path], float]] = []
        self.is_current: Callable[[Path], bool] = lambda _: True
        self.before_answer: Callable[[], Awaitable[None]] = _nothing

    async def problems(self, paths: Collection[Path], patience: float) -> Mapping[Path, Problems]:
        self.asked.append((paths, patience))
        await self.before_answer()
        texts = {path: self.files.read(path).text for root in self.files.roots for path in sorted(root.rglob("*.py"))}
        defined = {name for text in texts.values() for name in re.findall(r"^def (\w+)", text, re.MULTILINE)}
        return {
            path: Problems(_unknown(text, defined) if self.is_current(path) else (), self.is_current(path))
            for path, text in texts.items()
            if path in paths or not paths
        }


async def _nothing() -> None: ...


def _unknown(text: str, defined: set[str]) -> tuple[Problem, ...]:
    used = ((at, name) for at, line in enumerate(text.splitlines()) for name in re.findall(r"^use\((\w+)\)", line))
    return tuple(
        Problem(
            line=at,
            character=4,
            end_line=at,
            end_character=4 + len(name),
            severity="error",
            message=f"{name} is not defined",
            source="toy",
            code="E1",
        )
        for at, name in used
        if name not in defined
    )


def gone() -> Unavailable:
    return Unavailable("it has not answered in time")


def place(uri: str, line: int, start: int = 0, end: int | None = None) -> dict[str, Any]:
    """A location, as LSP writes it."""
    return {"uri": uri, "range": span(line, start, end)}


def span(line: int, start: int = 0, end: int | None = None) -> dict[str, Any]:
    last = {"line": line, "character": start if end is None else end}
    return {"start": {"line": line, "character": start}, "end": last}


class WordServer(ScriptedServer):
    """Takes every word for a symbol, in all files of the workspace as they are on the screen."""

    def __init__(self, files: Files, encoding: PositionEncoding = "utf-16", *, form: str = "changes") -> None:
        super().__init__(encoding=encoding)
        self.files = files
        self.form = form
        self.answers = {
            "textDocument/definition": lambda it: self.places(it)[:1],
            "textDocument/references": self.places,
            "textDocument/rename": self.rename,
        }

    def places(self, params: Mapping[str, Any]) -> list[dict[str, Any]]:
        word = self.word(params)
        return [
            {"uri": path.as_uri(), "range": self.range(lines, match.start(), match.end())}
            for path, lines in self.texts()
            for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", lines.text)
        ]

    def rename(self, params: Mapping[str, Any]) -> dict[str, Any]:
        changes: dict[str, list[Any]] = {}
        for it in self.places(params):
            changes.setdefault(it["uri"], []).append({"range": it["range"], "newText": params["newName"]})
        if self.form == "changes":
            return {"changes": changes}
        documents = [{"textDocument": {"uri": uri, "version": None}, "edits": edits} for uri, edits in changes.items()]
        return {"documentChanges": documents}

    def word(self, params: Mapping[str, Any]) -> str:
        path = path_of(params["textDocument"]["uri"])
        assert path is not None
        lines = dict(self.texts())[path]
        at = lines.offset(Position(params["position"]["line"], params["position"]["character"]), self.encoding)
        found = re.compile(r"\w+").match(lines.text, at)
        assert found is not None, lines.text[at:]
        return found[0]

    def texts(self) -> list[tuple[Path, Lines]]:
        paths = sorted(it for root in self.files.roots for it in root.rglob("*.py"))
        return [(it, Lines(self.files.read(it).text)) for it in paths]

    def range(self, lines: Lines, start: int, end: int) -> dict[str, Any]:
        (line, first), (last_line, last) = (lines.position(it, self.encoding) for it in (start, end))
        return {"start": {"line": line, "character": first}, "end": {"line": last_line, "character": last}}
