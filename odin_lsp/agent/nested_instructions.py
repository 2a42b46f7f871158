"""Instructions of folders further down: they hold for the work below their folder, and are added when it gets there.

Only in a workspace that the user trusts: anywhere else they are files like others."""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from odin_lsp.agent.instructions import InstructionFile, instructions_in
from odin_lsp.messages import Message, Text
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.uris import printable

MAX_NESTED = 20
"""Files of one turn."""
MAX_FOLDERS = 2_000
"""Of which it is remembered from one turn to the next what they ask for."""
OF_OTHERS = frozenset(
    {"node_modules", "bower_components", "vendor", "third_party", "site-packages", "venv", "env", "target", "dist"}
    | {"build", "deps", "Pods"}
)
"""Folders with the work of strangers, whoever trusts the workspace; so are those whose names begin with a dot."""
NESTED = "What the project asks for in work below {folder}:"
Asked = tuple[InstructionFile, ...] | None
"""What a folder asks for; `None`: it is not the project's own, and neither is what is below it."""


class FolderInstructions:
    """What the folders below the one that is trusted ask for. Each is looked up once, and again when something there
    has changed; where nobody tells of changes, again in each turn."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self.root = Path()
        self._is_followed = False
        """Whether somebody has told of changes since the last time that somebody began."""
        self._known: dict[Path, Asked] = {}
        """Replaced when something has changed: a look-up that is under way then fills one that nobody asks any more."""
        files.followers.append(self._heed)

    def begin(self, root: Path) -> None:
        """A turn begins, or its conversation has become shorter."""
        was_followed, self._is_followed = self._is_followed, self._files.are_changes_told
        if root != self.root or not was_followed or len(self._known) > MAX_FOLDERS:
            self.root, self._known = root, {}

    def look(self, folder: Path, seen: dict[Path, Asked]) -> None:
        """What it asks for, and all between it and the root, as far as that is not seen yet. This may take a while."""
        root, known, inner = self.root, self._known, list[Path]()
        if not folder.is_relative_to(root):
            return
        while folder != root and folder not in seen:
            inner.append(folder)
            folder = folder.parent
        outer = seen.get(folder, ())
        for it in reversed(inner):
            if outer is not None and it not in known:
                known[it] = None if _is_of_others(it) else tuple(instructions_in(it))
            outer = seen[it] = None if outer is None else known[it]

    def _heed(self, paths: Iterable[Path]) -> None:
        """These may be others now. What is asked for stands in a Markdown file in the folder, or below it by a link."""
        outdated, below = set[Path](), f"{self.root}{os.sep}"
        for path in paths:
            is_inside = str(path).startswith(below) or self._files.around(path) not in (None, path)
            if path in self._known or path.name == ".git" or not is_inside:
                self._known = {}  # folders come, go and are called otherwise with all that is in them
                return
            if path.suffix.lower() == ".md":
                outdated.update(takewhile(lambda it: it not in outdated, path.parents))
        self._known = {folder: asked for folder, asked in self._known.items() if folder not in outdated}


@dataclass(slots=True)
class NestedInstructions:
    """One turn's: which folders the work has reached."""

    folders: FolderInstructions | None = None
    """None: nothing is trusted."""
    hides: Callable[[Path], bool] = lambda _: False
    """Files that no model reads."""
    _reached: set[Path] = field(default_factory=set[Path])
    """Files whose folders were looked at."""
    _looked: dict[Path, Asked] = field(default_factory=dict[Path, Asked])

    async def due(self, reached: Iterable[Path], messages: Sequence[Message]) -> list[InstructionFile]:
        """What holds where the work has got to, and was not told in this conversation as it is now."""
        new = {path for path in reached if path not in self._reached}
        if self.folders is None or not new:
            return []
        self._reached |= new
        return await asyncio.to_thread(self._found, self.folders, {path.parent for path in new}, tuple(messages))

    def look_again(self) -> None:
        """The conversation has become shorter."""
        self._reached.clear()
        self._looked.clear()
        if self.folders is not None:
            self.folders.begin(self.folders.root)

    def _found(
        self, instructions: FolderInstructions, reached: Iterable[Path], messages: Sequence[Message]
    ) -> list[InstructionFile]:
        before = len(self._looked)
        for folder in reached:
            instructions.look(folder, self._looked)
        new = sorted(list(self._looked)[before:])
        found = [file for folder in new for file in self._looked[folder] or () if not self.hides(Path(file.path))]
        told = {part.text for message in messages for part in message.parts if isinstance(part, Text)} if found else ()
        return [file for file in found if told_as(file) not in told][:MAX_NESTED]


def told_as(file: InstructionFile) -> str:
    return f"{NESTED.format(folder=printable(str(Path(file.path).parent)))}\n{file.block}"


def _is_of_others(folder: Path) -> bool:
    """A repository inside of the repository, and what nobody may look into, are no part of the project."""
    try:
        return folder.name in OF_OTHERS or folder.name.startswith(".") or (folder / ".git").exists()
    except OSError:
        return True
