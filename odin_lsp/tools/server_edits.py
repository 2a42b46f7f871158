"""An edit of a language server as proposals: checked file by file, and made as a whole or not at all."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from odin_lsp.errors import PermissionDenied, ToolError
from odin_lsp.intelligence.lsp import Malformed
from odin_lsp.intelligence.refactoring import Change
from odin_lsp.intelligence.workspace_edit import Created, Deleted, Edited, Moved, edited
from odin_lsp.permissions.gate import Want
from odin_lsp.permissions.subagent_rights import may_edit
from odin_lsp.review.proposals import FileProposal, Wish, edit_of, operation_of
from odin_lsp.tasks import COMPARED, beside_loop
from odin_lsp.tools.base import ToolContext
from odin_lsp.tools.editing import readable
from odin_lsp.workspace.uris import path_of, printable

MAX_FILES = 500
RULED_AS = "EditTool"
"""The rules for what edits files hold for the files of such an edit, too."""

Versions = Mapping[Path, int]
"""Of the open documents."""


def versions(context: ToolContext) -> Versions:
    return {it.path: it.version for it in context.files.buffers if it.path is not None}


async def proposals_of(
    change: Change, asked_at: Versions, tool: str, wish: Wish, context: ToolContext
) -> list[FileProposal]:
    """What would happen to each file. `asked_at`: the documents as they were when the server was asked."""
    if len(change.steps) > MAX_FILES:
        raise ToolError(f"{change.server} would change {len(change.steps)} files, and {MAX_FILES} can be at once")
    plan = _Plan(change, asked_at, wish, context)
    for step in change.steps:
        try:
            await plan.add(step)
        except Malformed as error:
            name = context.files.shown(path_of(step.uri) or Path(step.uri))
            raise ToolError(f"the edit of {change.server} cannot be made in {name}: {error}; try again") from error
    files = await plan.files()
    await _allow(files, tool, context)
    return files


@dataclass(slots=True)
class _Plan:
    """The folder as it would be, step by step. Files are known by where they are now."""

    change: Change
    asked_at: Versions
    wish: Wish
    context: ToolContext
    texts: dict[Path, tuple[str, str]] = field(default_factory=dict[Path, tuple[str, str]])
    """What is there, and what would be."""
    created: dict[Path, str] = field(default_factory=dict[Path, str])
    moved: dict[Path, Path] = field(default_factory=dict[Path, Path])
    deleted: dict[Path, bool] = field(default_factory=dict[Path, bool])
    """Whether with all that is in it."""

    async def files(self) -> list[FileProposal]:
        """Edits come before moves: they are made where the files are now."""
        edits = [
            await beside_loop(COMPARED * len(old), edit_of, path, old, new, self.wish)
            for path, (old, new) in self.texts.items()
            if old != new
        ]
        return [
            *(operation_of(path, "create", text, self.wish) for path, text in self.created.items()),
            *edits,
            *(operation_of(path, "rename", wish=self.wish, new_path=new) for path, new in self.moved.items()),
            *[await self._deletion(path, recursive=recursive) for path, recursive in self.deleted.items()],
        ]

    async def add(self, step: Edited | Created | Moved | Deleted) -> None:
        path = self._now_at(await self._reach(step.uri))
        match step:
            case Edited(_, edits, version):
                if path in self.created:
                    self.created[path] = edited(self.created[path], edits, self.change.encoding)
                else:
                    old, new = self.texts.get(path) or await self._read(path, version)
                    self.texts[path] = old, await beside_loop(len(new), edited, new, edits, self.change.encoding)
            case Created(_, is_optional):
                if not self._exists(path):
                    self.created[path] = ""
                elif not is_optional:
                    raise Malformed("it is to be created, and is there already")
            case Moved(_, new_uri):
                await self._move(path, await self._reach(new_uri))
            case Deleted(_, recursive, is_optional):
                if self.created.pop(path, None) is None and self._exists(path):
                    self.texts.pop(path, None)
                    self.deleted[path] = recursive
                elif not is_optional:
                    raise Malformed("it is to be deleted, and is not there")

    async def _move(self, path: Path, new: Path) -> None:
        if self._exists(new):
            raise Malformed(f"it is to be moved to {self.context.files.shown(new)}, which is there already")
        if path in self.created:
            self.created[new] = self.created.pop(path)
        elif path in self.moved or not self._exists(path):
            raise Malformed("it is to be moved, and is not there")
        else:
            self.moved[path] = new

    async def _read(self, path: Path, version: int | None) -> tuple[str, str]:
        buffer = self.context.files.buffers.of_path(path)
        if buffer is not None and (
            self.asked_at.get(path) != buffer.version or (version is not None and version != buffer.version)
        ):
            raise Malformed("the text has changed since the server knew it")
        if not self._exists(path):
            raise Malformed("there is no such file")
        text = (await readable(path, self.context)).text
        return text, text

    async def _reach(self, uri: str) -> Path:
        path = path_of(uri)
        if path is None:
            raise Malformed("it is no file")
        return await self.context.reach(str(path))

    def _now_at(self, path: Path) -> Path:
        """Where the file is now that has this name after the steps so far."""
        for old, new in reversed(self.moved.items()):
            if path.is_relative_to(new):
                return old / path.relative_to(new)
            if path.is_relative_to(old):
                raise Malformed("it is changed after it has been moved away")
        return path

    def _exists(self, path: Path) -> bool:
        known = path in self.created or path.exists() or self.context.files.buffers.of_path(path) is not None
        return known and path not in self.deleted

    async def _deletion(self, path: Path, *, recursive: bool) -> FileProposal:
        if path.is_dir() and any(path.iterdir()) and not recursive:
            raise ToolError(f"{self.change.server} would delete {path}, a folder that is not empty; nothing is done")
        text = "" if path.is_dir() else (await readable(path, self.context)).text
        return operation_of(path, "delete", text, self.wish, recursive=recursive)


async def _allow(files: list[FileProposal], tool: str, context: ToolContext) -> None:
    """All of these files may be changed, or nothing is."""
    rules = context.gate.rules(context.mode)
    asking: dict[Path, str] = {}
    for path in dict.fromkeys(it for file in files for it in (file.path, file.new_path) if it is not None):
        if not may_edit(path, context.write_scope):
            raise PermissionDenied(f"{path} is outside of what you were asked to edit")
        for verdict in (rules.on(it, context.mode, path=path) for it in (tool, RULED_AS)):
            if verdict is not None and verdict.decision == "deny":
                raise PermissionDenied(f"{context.files.shown(path)} would be changed, too: {verdict.reason}")
            if verdict is not None and verdict.decision == "ask":
                asking[path] = verdict.reason
    if asking and context.granted is None:
        names = "\n".join(printable(str(it)) for it in asking)
        reason = next(iter(asking.values()))
        title = f"May Odin change {len(asking)} file{'' if len(asking) == 1 else 's'} by {tool}?"
        await context.gate.ask(Want(tool=tool, title=title, reason=reason, what=names, mode=context.mode))
