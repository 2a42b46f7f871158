"""Where extensions are: Odin's own folders, and those of other agents, of a project and of the user.

Trust in a folder is bound to the content of these files, and whoever uses one takes it from here, so that what was
trusted is what is used."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from odin_lsp.config import FOLDER, user_file
from odin_lsp.config.skill_folders import SKILLS, SKILLS_OF_OTHERS
from odin_lsp.errors import ToolError
from odin_lsp.workspace.opening import entries, opened_file

Kind = Literal["agent", "skill", "command", "hooks", "mcp"]
Owner = Literal["user", "project"]
Shape = Literal["file", "notes", "tree", "skills"]
"""One file; the Markdown files of a folder; those of the folders in it, too; a folder for each, with a SKILL.md."""

MAX_FILES = 50
"""Of one place."""
MAX_BYTES = 32 * 1024
"""Of one file; what is beyond is not read."""
MAX_NAMES = 10_000
"""Of a folder with more names than these nothing is taken: nobody could say which of them come first."""
MAX_DEPTH = 3
IS_LINK = "it is a link, and links of a project are not followed"
SKILL = "SKILL.md"


@dataclass(frozen=True, slots=True)
class Place:
    kind: Kind
    path: str
    """From the folder of the project or of the user."""
    shape: Shape


@dataclass(frozen=True, slots=True)
class Brought:
    """One file, as it was read."""

    kind: Kind
    owner: Owner
    path: Path
    name: str
    """What the file is called there: the way to it without the ending, or the folder of a skill."""
    content: bytes
    is_cut: bool = False
    problem: str = ""
    """Why it was not read."""


OF_ODIN = (
    Place("agent", "agents", "notes"),
    Place("skill", SKILLS, "skills"),
    Place("command", "commands", "tree"),
    Place("hooks", "hooks.json", "file"),
    Place("mcp", "mcp.json", "file"),
)
"""In `.odin` of a project, and in the folder of the user's settings."""
OF_OTHERS = (
    *(Place("skill", it, "skills") for it in SKILLS_OF_OTHERS),
    Place("agent", ".claude/agents", "notes"),
    Place("command", ".claude/commands", "tree"),
    Place("hooks", ".claude/settings.json", "file"),
)
"""Below a project, and below the user's home."""
OF_PROJECTS = (
    Place("hooks", ".claude/settings.local.json", "file"),
    Place("mcp", ".mcp.json", "file"),
    Place("mcp", ".vscode/mcp.json", "file"),
)
OF_USERS = (Place("mcp", ".claude.json", "file"),)


def brought_by(root: Path) -> list[Brought]:
    """All that a project brings, that which counts before others first. A link is named, and what it leads to is not
    read."""
    root = root.resolve()
    return [*_read(root / FOLDER, OF_ODIN, "project"), *_read(root, (*OF_OTHERS, *OF_PROJECTS), "project")]


def brought_by_user() -> list[Brought]:
    """The same of the user, wherever links lead."""
    home, own = Path.home(), user_file().parent
    return [*_read(own, OF_ODIN, "user"), *_read(home, (*OF_OTHERS, *OF_USERS), "user")]


def _read(base: Path, places: Sequence[Place], owner: Owner) -> Iterator[Brought]:
    links: set[Path] = set()
    for place in places:
        found = 0
        for path, name in _files(base / place.path, place.shape, owner):
            if found == MAX_FILES:
                break
            with suppress(ToolError, OSError), opened_file(path) as (file, status):
                content = file.read(MAX_BYTES if place.shape != "file" else MAX_BYTES * 8)
                yield Brought(place.kind, owner, path, name, content, is_cut=len(content) < status.st_size)
                found += 1
                continue
            link = _link(base, path) if owner == "project" else None
            if link is not None and link not in links:
                links.add(link)
                yield Brought(place.kind, owner, link, link.name, b"", problem=IS_LINK)


def _link(base: Path, path: Path) -> Path | None:
    """The first link on the way to it."""
    way = (*reversed([it for it in path.parents if it.is_relative_to(base)]), path)
    return next((it for it in way if it.is_symlink()), None)


def _files(path: Path, shape: Shape, owner: Owner) -> Iterator[tuple[Path, str]]:
    """Paths that may be files, and what each is called."""
    if owner == "user":
        with suppress(OSError, RuntimeError):
            path = path.resolve()
    if shape == "file":
        yield path, path.stem
        return
    if shape == "skills":
        if path.is_symlink():
            yield path, path.name
        for name, _ in _names(path):
            folder = path / name
            with suppress(OSError, RuntimeError):
                folder = folder.resolve() if owner == "user" else folder
            yield folder / SKILL, name
        return
    if path.is_symlink():
        yield path, path.name
    yield from _notes(path, "", MAX_DEPTH if shape == "tree" else 1)


def _notes(folder: Path, within: str, depth: int) -> Iterator[tuple[Path, str]]:
    for name, is_folder in _names(folder):
        if name.endswith(".md"):
            yield folder / name, f"{within}{name.removesuffix('.md')}"
        elif is_folder and depth > 1:
            yield from _notes(folder / name, f"{within}{name}:", depth - 1)


def _names(folder: Path) -> list[tuple[str, bool]]:
    with suppress(ToolError):
        names = entries(folder, MAX_NAMES + 1)
        return names if len(names) <= MAX_NAMES else []
    return []
