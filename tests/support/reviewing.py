"""A workspace in which edits are reviewed: real files, documents as the server knows them, a person who decides."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odin_lsp.agent.executor import Executor
from odin_lsp.agent.hooks import Hooks
from odin_lsp.config import Config, ReviewSettings, Timeouts
from odin_lsp.messages import Message, ToolCall, ToolResult
from odin_lsp.ports import Answer, Decision, FileChange, Question, Review, ReviewAnswer, ReviewHunk
from odin_lsp.review.undo import Undone
from odin_lsp.terminal.editor import TerminalEditor
from odin_lsp.tools.base import all_tools
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.text import Change, Position
from odin_lsp.workspace.uris import path_of
from tests.support.context import tool_context


def accept(hunk: ReviewHunk) -> Decision:
    return Decision(hunk_id=hunk.id, decision="accept")


def reject(hunk: ReviewHunk) -> Decision:
    return Decision(hunk_id=hunk.id, decision="reject", reason="no")


def restored_and_kept(undone: Undone) -> tuple[list[Path], list[tuple[Path, str]]]:
    """The files that were restored, and those that were kept, with the reason."""
    return list(undone.restored), [(it.path, it.reason) for it in undone.kept]


@dataclass
class ScriptedEditor:
    """Changes open documents as an editor does, and everything else on the disk, as the terminal does."""

    files: Files
    decide: Callable[[ReviewHunk], Decision | None] = accept
    rest_of_turn: Any = None
    meanwhile: Callable[[], None] = lambda: None
    """What happens while the person looks at the review."""
    at_last: Callable[[], None] = lambda: None
    """What happens between the person's word and the edit."""
    says: str | None = "allow_once"
    command: str | None = None
    """What the person makes of a command before it is allowed."""
    reviews: list[Review] = field(default_factory=list[Review])
    questions: list[Question] = field(default_factory=list[Question])
    applied: list[FileChange] = field(default_factory=list[FileChange])

    async def ask(self, question: Question) -> Answer | None:
        self.questions.append(question)
        return Answer((self.says,), command=self.command) if self.says else None

    async def review(self, review: Review) -> ReviewAnswer | None:
        self.reviews.append(review)
        self.meanwhile()
        decisions = [self.decide(hunk) for file in review.files for hunk in file.hunks if hunk.state == "pending"]
        if None in decisions:
            return None
        return ReviewAnswer(decisions=tuple(filter(None, decisions)), rest_of_turn=self.rest_of_turn)

    async def close_review(self, proposal_id: str) -> None:
        pass

    async def apply(self, change: FileChange) -> str | None:
        self.applied.append(change)
        self.at_last()
        buffer = self.files.buffers.of_uri(change.uri)
        if buffer is None:
            return await TerminalEditor("yes").apply(change)
        if change.version != buffer.version:
            return "the version is another one"
        if change.operation != "edit":
            self.files.buffers.close(change.uri)
            return await TerminalEditor("yes").apply(change)
        ordered = sorted(change.edits, key=lambda it: (it.range.start.line, it.range.start.character), reverse=True)
        changes = [
            Change(
                it.new_text,
                Position(it.range.start.line, it.range.start.character),
                Position(it.range.end.line, it.range.end.character),
            )
            for it in ordered
        ]
        self.files.buffers.change(change.uri, buffer.version + 1, changes)
        return None

    async def save(self, uris: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        for uri in uris:
            path, buffer = path_of(uri), self.files.buffers.of_uri(uri)
            if path is not None and buffer is not None:
                path.write_bytes(buffer.text.encode())
                self.files.buffers.save(uri)
        return ()

    async def reload(self, uris: tuple[str, ...]) -> None:
        pass

    def notify(self, level: str, message: str) -> None:
        pass


class Bench:
    """Has the model's calls carried out as a turn does, step by step."""

    def __init__(
        self, folder: Path, *, policy: Any = "each", mode: Any = "edit_mode", hooks: Hooks | None = None
    ) -> None:
        self.root = folder / "ws"
        self.root.mkdir(parents=True, exist_ok=True)
        self.files = Files([self.root], Buffers(), FileCache())
        self.editor = ScriptedEditor(self.files)
        self.events: list[Any] = []
        config = Config(review=ReviewSettings(policy=policy), timeouts=Timeouts(client=0.2))
        self.context = tool_context(
            self.files, self.editor, folder / "state", mode=mode, emit=self.events.append, config=config
        )
        self.desk = self.context.draft.desk
        self.executor = Executor(all_tools(), hooks or Hooks(), self.context)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def open(self, path: Path, text: str | None = None) -> None:
        self.files.buffers.open(path.as_uri(), 1, path.read_bytes().decode() if text is None else text)

    def type(self, path: Path, text: str, line: int, start: int = 0, end: int | None = None) -> None:
        buffer = self.files.buffers.of_path(path)
        assert buffer is not None
        change = Change(text, Position(line, start), Position(line, start if end is None else end))
        self.files.buffers.change(path.as_uri(), buffer.version + 1, [change])

    def text(self, path: Path) -> str | None:
        """What the user sees."""
        return self.desk.applier.text(path)

    async def step(self, *calls: tuple[str, Mapping[str, Any]]) -> list[ToolResult]:
        """One step of the model: these calls, reviewed as one set."""
        parts = tuple(ToolCall(f"call {index}", name, arguments) for index, (name, arguments) in enumerate(calls))
        results: dict[str, ToolResult] = {}
        await self.executor.run(Message("assistant", parts), results)
        return [results[part.id] for part in parts]

    async def use(self, name: str, /, **arguments: Any) -> ToolResult:
        plain = {key: str(it) if isinstance(it, Path) else it for key, it in arguments.items()}
        [result] = await self.step((name, plain))
        return result

    async def read(self, *paths: Path) -> None:
        for result in await self.step(*(("Read", {"file_path": str(path)}) for path in paths)):
            assert not result.failed, result.content

    async def edit(self, path: Path, old: str, new: str, **more: Any) -> ToolResult:
        return await self.use("EditTool", file_path=path, old_string=old, new_string=new, **more)

    @property
    def states(self) -> list[str]:
        """What became of each hunk so far."""
        return [it.state for it in self.context.draft.turn.receipts]

    @property
    def notes(self) -> list[str]:
        """What the person was told about each file."""
        return [file.note for review in self.editor.reviews for file in review.files]

    def events_of(self, kind: str) -> list[Any]:
        return [event for event in self.events if event.kind == kind]

    async def is_settled(self) -> bool:
        await asyncio.sleep(0)
        return not list(self.desk.proposals) and not self.desk.drafts and len(asyncio.all_tasks()) == 1
