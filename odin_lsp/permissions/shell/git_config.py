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
    """Reading the history of the repository around `cwd`, if there is one, fetches nothing."""
    if _git_folder(cwd) is None:
        return True
    keys = repository_keys(cwd)
    return keys is not None and not any(key.startswith(FETCHING) for key in keys)


def repository_keys(cwd: Path) -> set[str] | None:
    """All keys that the repository sets, without the names of remotes and branches; none if that cannot be told."""
    folder = _git_folder(cwd)
    if folder is None:
        return None
    common = _pointed(folder / "commondir", folder) or folder
    keys: set[str] = set()
    try:
        for file in {common / "config", folder / "config", folder / "config.worktree"}:
            if file.exists() or file.is_symlink():
                keys |= set(_keys(file))
    except (OSError, UnicodeDecodeError, ValueError):
        return None
    return keys


def _git_folder(cwd: Path) -> Path | None:
    """Where git would find the repository. Bare ones are left out: hardened git refuses them."""
    real = Path(os.path.realpath(cwd))
    for folder in (real, *real.parents):
        found = folder / ".git"
        if found.is_dir():
            if (found / "HEAD").exists() or (found / "HEAD").is_symlink():
                return found
        elif found.exists():
            return _pointed(found, folder, "gitdir: ")
    return None


def _pointed(file: Path, base: Path, prefix: str = "") -> Path | None:
    try:
        with file.open("rb") as opened:
            text = opened.read(4096).decode()
    except (OSError, UnicodeDecodeError):
        return None
    name = text.rstrip("\r\n")
    return base / name.removeprefix(prefix) if name.startswith(prefix) and name != prefix else None


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
