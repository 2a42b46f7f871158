"""An editor that looks at each change that Odin makes: it was wanted, and nothing else has changed with it.

The texts are lines of three kinds: `name = value`, where each value is used once, by the person or by one change that
the model proposes; what the person has typed, `# typed 7`; and empty ones."""

import asyncio
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odin_lsp.workspace.text import Change, Lines, Position
from odin_lsp.workspace.uris import path_of
from tests.soak.peer import Peer

NEVER = "echo never >> ran.txt"
"""The model runs it in Ask and Plan. If it says so in a turn that may ask, the person does not want it either."""
VALUE = re.compile(r"^(\w+) = (\w+)$", re.MULTILINE)
CAPABILITIES = {
    "workspace": {
        "applyEdit": True,
        "workspaceEdit": {"documentChanges": True, "resourceOperations": ["create", "delete", "rename"]},
        "workspaceFolders": True,
        "didChangeConfiguration": {},
    },
    "experimental": {
        "odin": {"version": 1, "events": True, "question": True, "review": True, "save": True, "reload": True}
    },
}


def values_of(text: str) -> dict[str, str]:
    return dict(VALUE.findall(text))


def without_values(text: str) -> str:
    return VALUE.sub(r"\1 =", text)


@dataclass
class Document:
    lines: Lines
    version: int = 1

    @property
    def text(self) -> str:
        return self.lines.text


@dataclass
class Review:
    """As events have told of it."""

    turn: str
    hunks: dict[str, dict[str, Any]]
    uris: dict[str, str]

    @property
    def pending(self) -> list[str]:
        return [it for it, hunk in self.hunks.items() if hunk.get("state", "pending") == "pending"]


@dataclass
class Editor:
    roots: list[Path]
    saved: dict[Path, str]
    """What the disk has to have."""
    wanted: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Names and the values that the person has approved for them, or typed."""
    documents: dict[Path, Document] = field(default_factory=dict[Path, Document])
    reviews: dict[str, Review] = field(default_factory=dict[str, Review])
    started: set[str] = field(default_factory=set[str])
    queued: set[str] = field(default_factory=set[str])
    finished: set[str] = field(default_factory=set[str])
    sessions: dict[str, None] = field(default_factory=dict[str, None])
    """All that it has heard of, the last one last."""
    questions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    says_yes: bool = True
    is_late: bool = False
    """Whether it tells of a change only after it has answered."""
    wrong: list[str] = field(default_factory=list[str])
    peer: Peer | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    settings: dict[str, Any] = field(default_factory=dict[str, Any])
    diary: list[str] = field(default_factory=list[str])
    """What became of each text, and who wanted it."""

    async def connect(self, peer: Peer) -> None:
        self.peer = peer
        peer.answer, peer.hear = self.answer, self.hear
        for of_this_life in (self.reviews, self.started, self.queued, self.finished):
            of_this_life.clear()
        folders = [{"uri": it.as_uri(), "name": it.name} for it in self.roots]
        given = {"capabilities": CAPABILITIES, "rootUri": folders[0]["uri"], "workspaceFolders": folders}
        await peer.ask("initialize", {"processId": None, **given, "initializationOptions": {}})
        peer.tell("initialized", {})
        if self.settings:
            self.configure(self.settings)
        for path in self.documents:
            self._open(path)

    # what the person does

    def text(self, path: Path) -> str:
        """On the screen."""
        return self.documents[path].text if path in self.documents else self.saved[path]

    def open(self, path: Path) -> None:
        self.documents[path] = Document(Lines(self.saved[path]))
        self._open(path)

    def _open(self, path: Path) -> None:
        it = self.documents[path]
        item = {"uri": path.as_uri(), "languageId": "python", "version": it.version, "text": it.text}
        self._tell("textDocument/didOpen", {"textDocument": item})

    def close(self, path: Path) -> None:
        self.save(path)
        del self.documents[path]
        self._tell("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})

    def save(self, path: Path) -> None:
        self.diary.append(f"saved {path.name}")
        self.saved[path] = self.documents[path].text
        path.write_bytes(self.saved[path].encode())
        self._tell("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}})

    def type(self, path: Path, text: str, line: int, start: int = 0, end: int = 0) -> None:
        self.diary.append(f"typed in {path.name}, line {line}: {text!r}")
        self._change(path, [Change(text, Position(line, start), Position(line, end))])
        self.wanted.update(values_of(self.text(path)).items())

    def configure(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self._tell("workspace/didChangeConfiguration", {"settings": {"odin": settings}})

    def change_folders(self, roots: Iterable[Path]) -> None:
        new = list(roots)
        event = {
            "added": [{"uri": it.as_uri(), "name": it.name} for it in new if it not in self.roots],
            "removed": [{"uri": it.as_uri(), "name": it.name} for it in self.roots if it not in new],
        }
        self.roots = new
        self._tell("workspace/didChangeWorkspaceFolders", {"event": event})

    def _change(self, path: Path, changes: list[Change]) -> None:
        document = self.documents[path]
        document.version += 1
        for change in changes:
            document.lines.apply(change, "utf-16")
        told = [{"range": {"start": _spot(it.start), "end": _spot(it.end)}, "text": it.text} for it in changes]
        named = {"uri": path.as_uri(), "version": document.version}
        self._tell("textDocument/didChange", {"textDocument": named, "contentChanges": told})

    def _tell(self, method: str, params: Any) -> None:
        if self.peer is not None:
            self.peer.tell(method, params)

    # what Odin asks

    async def answer(self, method: str, params: Any) -> Any:
        match method:
            case "workspace/applyEdit":
                return self._apply(params["edit"]["documentChanges"])
            case "odin/question":
                self.questions.append(params)
                is_allowed = self.says_yes and params.get("command") != NEVER
                return {"optionIds": ["allow_once" if is_allowed else "deny"]}
            case "odin/save":
                for path in map(path_at, params["uris"]):
                    if path in self.documents:  # what was closed meanwhile is saved
                        self.save(path)
                return {"saved": params["uris"], "failed": []}
            case "odin/reload":
                return {"reloaded": [], "kept": []}
            case "workspace/configuration":
                return [self.settings for _ in params["items"]]
            case _:
                return None

    def _apply(self, changes: list[dict[str, Any]]) -> dict[str, Any]:
        self.diary.append(f"asked to change {changes}")
        for change in changes:
            if change.get("kind") == "create":
                path = path_at(change["uri"])
                if path.exists():
                    return {"applied": False, "failureReason": f"{path.name} exists"}
                path.touch()
                self.saved[path] = ""
                self.open(path)
                continue
            if change.get("kind") == "delete":  # what it has made is taken back
                path = path_at(change["uri"])
                path.unlink()
                del self.saved[path]
                if self.documents.pop(path, None) is not None:
                    self._tell("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
                continue
            path, version = path_at(change["textDocument"]["uri"]), change["textDocument"].get("version")
            if path not in self.documents:
                self.open(path)
            document = self.documents[path]
            if version not in (None, document.version):
                return {"applied": False, "failureReason": "the document has changed"}
            edits = sorted(change["edits"], key=lambda it: _place(it["range"]["start"]), reverse=True)
            wanted = [
                Change(it["newText"], Position(*_place(it["range"]["start"])), Position(*_place(it["range"]["end"])))
                for it in edits
            ]
            if self.is_late:
                asyncio.get_running_loop().call_later(0.01, self._carry_out, path, document.version, wanted)
            else:
                self._carry_out(path, document.version, wanted)
        return {"applied": True}

    def _carry_out(self, path: Path, version: int, changes: list[Change]) -> None:
        document = self.documents.get(path)
        if document is None or document.version != version:
            return
        before = document.text
        self._change(path, changes)
        self.diary.append(f"changed {path.name}: {before!r} → {document.text!r}")
        self._judge(path, before, document.text)

    def _judge(self, path: Path, before: str, after: str) -> None:
        if before and without_values(before) != without_values(after):
            self.wrong.append(f"more than values has changed in {path.name}: {before!r} → {after!r}")
        was = values_of(before)
        for name, value in values_of(after).items():
            if was.get(name) != value and (name, value) not in self.wanted:
                self.wrong.append(f"nobody has approved {name} = {value} in {path.name}")

    # what it tells

    def hear(self, method: str, params: Any) -> None:
        if method != "odin/event":
            return
        event, turn, session = params["event"], params["turnId"], params["sessionId"]
        if session:
            self.sessions.pop(session, None)
            self.sessions[session] = None
        match event["kind"]:
            case "turnQueued":
                self.queued.add(turn)
            case "turnStarted":
                self.queued.discard(turn)
                self.started.add(turn)
            case "turnFinished":
                self.queued.discard(turn)
                self.finished.add(turn)
            case "reviewOpened":
                shown = event["proposal"]
                hunks = {hunk["id"]: hunk for file in shown["files"] for hunk in file["hunks"]}
                uris = {hunk["id"]: file["uri"] for file in shown["files"] for hunk in file["hunks"]}
                self.reviews[shown["proposalId"]] = Review(shown["turnId"], hunks, uris)
            case "reviewChanged":
                if review := self.reviews.get(event["proposalId"]):
                    review.hunks.update((hunk["id"], hunk) for hunk in event["hunks"])
            case "reviewClosed":
                self.reviews.pop(event["proposalId"], None)
            case _:
                pass
        self.changed.set()

    async def until(self, condition: Callable[[], object], patience: float) -> None:
        async with asyncio.timeout(patience):
            while not condition():
                self.changed.clear()
                await self.changed.wait()


def path_at(uri: str) -> Path:
    return Path(path_of(uri) or "")


def offsets_of(text: str, where: dict[str, dict[str, int]]) -> tuple[int, int]:
    """What the person has typed is before it on no line."""
    lines = text.split("\n")
    start, end = (
        sum(len(line) + 1 for line in lines[: it["line"]]) + it["character"] for it in (where["start"], where["end"])
    )
    return start, end


def _place(position: dict[str, int]) -> tuple[int, int]:
    return position["line"], position["character"]


def _spot(position: Position) -> dict[str, int]:
    return {"line": position.line, "character": position.character}
