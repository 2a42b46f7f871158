"""What the user and the project tell every agent: ODIN.md, AGENTS.md and CLAUDE.md. None hides another.

The user's own are in the folder of the user's settings, and come first. Those of a workspace folder itself hold for the
whole session, as they were when it began. Those further down are added when the work gets there, and only in a
workspace that the user trusts: anywhere else they are files like others."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from odin_lsp.agent.quoting import quoted
from odin_lsp.config import user_file
from odin_lsp.errors import ToolError
from odin_lsp.messages import Message, Text
from odin_lsp.values import Value
from odin_lsp.web.untrusted import visible
from odin_lsp.workspace.opening import opened_file
from odin_lsp.workspace.uris import printable

NAMES = ("ODIN.md", "AGENTS.md", "CLAUDE.md")
USER_NAMES = ("ODIN.md", "AGENTS.md")
MAX_BYTES = 32 * 1024
"""Of one file."""
MAX_NESTED = 20
"""Files of one turn."""
OF_OTHERS = frozenset(
    {"node_modules", "bower_components", "vendor", "third_party", "site-packages", "venv", "env", "target", "dist"}
    | {"build", "deps", "Pods"}
)
"""Folders with the work of strangers, whoever trusts the workspace; so are those whose names begin with a dot."""
NESTED = "What the project asks for in work below {folder}:"


@dataclass(frozen=True, slots=True)
class InstructionFile(Value):
    path: str
    size: int
    """Bytes on disk."""
    text: str
    """What people can see of it."""
    is_cut: bool = False
    """It is longer than what is used of it."""
    of: Literal["user", "project"] = "project"

    @property
    def block(self) -> str:
        whose = {"from": "user"} if self.of == "user" else {}
        return quoted("instructions", {"file": printable(self.path), **whose}, self.text)

    def __str__(self) -> str:
        cut = f", of which the first {MAX_BYTES:,} are used" if self.is_cut else ""
        return f"{printable(self.path)} ({self.size:,} bytes{cut})"


@dataclass(frozen=True, slots=True)
class Instructions:
    files: tuple[InstructionFile, ...] = ()

    @classmethod
    def load(cls, roots: Sequence[Path]) -> "Instructions":
        """The user's own, then those of each folder. What two files say alike is said once."""
        files: dict[str, InstructionFile] = {}
        for found in (*_of_user(user_file().parent), *(it for root in roots for it in _in_folder(root))):
            files.setdefault(found.text, found)
        return cls(tuple(files.values()))

    @property
    def text(self) -> str:
        """All of them, as the model gets them."""
        return "\n".join(it.block for it in self.files)

    def __str__(self) -> str:
        return ", ".join(map(str, self.files))


@dataclass(slots=True)
class NestedInstructions:
    """One turn's: which folders the work has reached."""

    root: Path | None = None
    """The folder that is trusted; `None`: none is."""
    hides: Callable[[Path], bool] = lambda _: False
    """Files that no model reads."""
    _reached: set[Path] = field(default_factory=set[Path])
    """Files whose folders were looked at."""
    _looked: set[Path] = field(default_factory=set[Path])

    def due(self, reached: Iterable[Path], messages: Sequence[Message]) -> list[InstructionFile]:
        """What holds where the work has got to, and was not told in this conversation as it is now."""
        if self.root is None:
            return []
        new = {path for path in reached if path not in self._reached}
        folders = {folder for path in new for folder in self._way(path)} - self._looked
        self._reached |= new
        self._looked |= folders
        found = [file for folder in sorted(folders) for file in _in_folder(folder) if not self.hides(Path(file.path))]
        told = {part.text for message in messages for part in message.parts if isinstance(part, Text)} if found else ()
        return [file for file in found if told_as(file) not in told][:MAX_NESTED]

    def look_again(self) -> None:
        """The conversation has become shorter."""
        self._reached.clear()
        self._looked.clear()

    def _way(self, path: Path) -> Iterator[Path]:
        """The folders between the root and a file, down to the first that is not the project's own."""
        if self.root is None or not path.is_relative_to(self.root):
            return
        folder = self.root
        for name in path.relative_to(self.root).parent.parts:
            folder /= name
            if name in OF_OTHERS or name.startswith(".") or (folder / ".git").exists():
                return
            yield folder


def told_as(file: InstructionFile) -> str:
    return f"{NESTED.format(folder=printable(str(Path(file.path).parent)))}\n{file.block}"


def _of_user(folder: Path) -> Iterator[InstructionFile]:
    """Wherever a link leads: it is the user's."""
    for name in USER_NAMES:
        with suppress(OSError, RuntimeError, ToolError):
            yield replace(_content(folder / name, (folder / name).resolve()), of="user")


def _in_folder(folder: Path) -> Iterator[InstructionFile]:
    for name in NAMES:
        with suppress(OSError, RuntimeError, ToolError):
            yield _read(folder / name)


def _read(path: Path) -> InstructionFile:
    """A link may lead to another Markdown file beside or below it, and nowhere else: whoever made the repository would
    choose what of the user's is sent to a model. What people cannot see is left out."""
    real = path.resolve()
    if real.suffix != ".md" or not real.is_relative_to(path.parent.resolve()):
        raise ToolError(f"{path} leads elsewhere")
    return _content(path, real)


def _content(path: Path, real: Path) -> InstructionFile:
    with opened_file(real) as (file, status):
        content = file.read(MAX_BYTES)
        text = visible(content.decode("utf-8", "replace"))[0]
        return InstructionFile(str(path), status.st_size, text, len(content) < status.st_size)
