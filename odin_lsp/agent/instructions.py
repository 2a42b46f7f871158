"""What the user and the project tell every agent: ODIN.md, AGENTS.md and CLAUDE.md. None hides another.

The user's own are in the folder of the user's settings, and come first. Those of a workspace folder itself hold for the
whole session, as they were when it began. `nested_instructions.py` has those further down."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from odin_lsp.agent.quoting import quoted
from odin_lsp.config import user_file
from odin_lsp.errors import ToolError
from odin_lsp.values import Value
from odin_lsp.web.untrusted import visible
from odin_lsp.workspace.opening import opened_file
from odin_lsp.workspace.uris import printable

NAMES = ("ODIN.md", "AGENTS.md", "CLAUDE.md")
USER_NAMES = ("ODIN.md", "AGENTS.md")
MAX_BYTES = 32 * 1024
"""Of one file."""


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
        for found in (*_of_user(user_file().parent), *(it for root in roots for it in instructions_in(root))):
            files.setdefault(found.text, found)
        return cls(tuple(files.values()))

    @property
    def text(self) -> str:
        """All of them, as the model gets them."""
        return "\n".join(it.block for it in self.files)

    def __str__(self) -> str:
        return ", ".join(map(str, self.files))


def _of_user(folder: Path) -> Iterator[InstructionFile]:
    """Wherever a link leads: it is the user's."""
    for name in USER_NAMES:
        with suppress(OSError, RuntimeError, ToolError):
            yield replace(_content(folder / name, (folder / name).resolve()), of="user")


def instructions_in(folder: Path) -> Iterator[InstructionFile]:
    """The project's, in exactly this folder."""
    for name in NAMES:
        with suppress(OSError, RuntimeError, ToolError):
            yield _read(folder / name)


def _read(path: Path) -> InstructionFile:
    """A link may lead to another Markdown file beside or below it, and nowhere else: whoever made the repository would
    choose what of the user's is sent to a model. What people cannot see is left out."""
    path.lstat()  # most folders have none, and to resolve what is not there takes a look at each folder above
    real = path.resolve()
    if real.suffix != ".md" or not real.is_relative_to(path.parent.resolve()):
        raise ToolError(f"{path} leads elsewhere")
    return _content(path, real)


def _content(path: Path, real: Path) -> InstructionFile:
    with opened_file(real) as (file, status):
        content = file.read(MAX_BYTES)
        text = visible(content.decode("utf-8", "replace"))[0]
        return InstructionFile(str(path), status.st_size, text, len(content) < status.st_size)
