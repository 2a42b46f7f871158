"""The configuration that a repository brings. Git runs programs that it names, so only what is known to be harmless
is taken for harmless."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from odin_lsp.permissions.shell.grammar import names

MAX_BYTES = 256 * 1024
_SECTION = re.compile(r"\[\s*([A-Za-z0-9-]+)\s*(?:\"((?:[^\"\\]|\\.)*)\")?\s*\]\s*([#;].*)?")
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
HARMLESS_SECTIONS = names("branch user author committer color column advice alias http pull push fetch")
HARMLESS_KEYS = names(
    "core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode"
    " core.symlinks core.autocrlf core.eol core.safecrlf core.quotepath core.abbrev core.longpaths core.untrackedcache"
    " core.preloadindex core.sharedrepository core.protectntfs core.protecthfs core.checkstat core.trustctime"
    " remote.url remote.fetch remote.pushurl remote.tagopt remote.prune remote.gh-resolved submodule.url"
    " submodule.active extensions.objectformat extensions.worktreeconfig extensions.refstorage commit.gpgsign"
    " tag.gpgsign merge.conflictstyle merge.ff rebase.autostash rebase.autosquash gc.auto lfs.repositoryformatversion"
    " rerere.enabled index.version feature.manyfiles"
)
FETCHING = ("include", "includeif", "remote.promisor", "remote.partialclonefilter", "extensions.partialclone")
"""With these even a look at the history may fetch what is missing, or read a configuration from elsewhere."""


def harmless(cwd: Path) -> bool:
    """There is a repository around `cwd`, and nothing in its configuration could run a program."""
    keys = repository_keys(cwd)
    return keys is not None and all(key in HARMLESS_KEYS or key.partition(".")[0] in HARMLESS_SECTIONS for key in keys)


def stays_local(cwd: Path) -> bool:
    """Reading the history of the repository around `cwd`, if there is one, fetches nothing and is not another's."""
    try:
        if _git_folder(cwd) is None:
            return True
    except ValueError:
        return False
    keys = repository_keys(cwd)
    return keys is not None and not any(key.startswith(FETCHING) for key in keys)


def repository_keys(cwd: Path) -> set[str] | None:
    """All keys that the repository sets, without the names of remotes and branches; none if that cannot be told."""
    keys: set[str] = set()
    try:
        folder = _git_folder(cwd)
        if folder is None:
            return None
        common = _pointed(folder / "commondir", folder) or folder
        for file in {common / "config", folder / "config", folder / "config.worktree"}:
            if file.exists() or file.is_symlink():
                keys |= set(_keys(file))
    except (OSError, ValueError):
        return None
    return keys


def _git_folder(cwd: Path) -> Path | None:
    """Where git would find the repository; `ValueError` where it would be led to another one."""
    real = Path(os.path.realpath(cwd))
    for folder in (real, *real.parents):
        found = folder / ".git"
        if found.is_symlink() or (folder.name != ".git" and _is_repository(folder)):
            raise ValueError(f"{folder} leads git elsewhere")
        if found.is_file():
            return _linked(found)
        if _is_repository(found):
            if (found / "commondir").exists():
                raise ValueError(f"{found} leads git elsewhere")
            return found
    return None


def _is_repository(folder: Path) -> bool:
    """Git looks at these too. A folder of the workspace that looks like one is a trap: hardly anybody has it there."""
    return all((folder / name).exists() for name in ("HEAD", "objects", "refs"))


def _linked(file: Path) -> Path:
    """The git folder of a worktree, which points back, or of a submodule, which is in the repository above."""
    target = _pointed(file, file.parent, "gitdir: ")
    if target is not None:
        common = _pointed(target / "commondir", target)
        if common is None and any(target.is_relative_to(it / ".git" / "modules") for it in file.parents):
            return target
        if common == target.parent.parent and _pointed(target / "gitdir", target) == file:
            return target
    raise ValueError(f"{file} leads git elsewhere")


def _pointed(file: Path, base: Path, prefix: str = "") -> Path | None:
    """The place that a file names."""
    try:
        with file.open("rb") as opened:
            text = opened.read(4096).decode()
    except (OSError, UnicodeDecodeError):
        return None
    name = text.rstrip("\r\n")
    if not name.startswith(prefix) or name == prefix:
        return None
    return Path(os.path.realpath(base / name.removeprefix(prefix)))


def _keys(file: Path) -> Iterator[str]:
    """`ValueError` for whatever is not written the usual way."""
    with file.open("rb") as opened:
        text = opened.read(MAX_BYTES + 1).decode()
    if len(text) > MAX_BYTES or "\0" in text:
        raise ValueError("too large")
    section = ""
    for raw in text.split("\n"):
        line = raw.strip(" \t\r")
        if not line or line[0] in "#;":
            continue
        if found := _SECTION.fullmatch(line):
            section = found[1].lower()
            if section in ("include", "includeif"):
                yield section
        elif section and (found := _KEY.fullmatch(line)) and not line.endswith("\\"):
            name = found[1].lower()
            # The names between are of remotes and branches; other sections mean different things with and without.
            yield f"{section}.{name}"
        else:
            raise ValueError(line)
