"""The configuration that a repository brings. Git runs programs that it names, so only what is known to be harmless
is taken for harmless."""

import re
from collections.abc import Iterator
from pathlib import Path

from odin_lsp.permissions.shell.grammar import names

MAX_BYTES = 256 * 1024
_SECTION = re.compile(r"\[\s*([A-Za-z0-9-]+)\s*(?:\"((?:[^\"\\]|\\.)*)\")?\s*\]\s*([#;].*)?")
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
HARMLESS_SECTIONS = names("branch user author committer color column advice alias http pull push fetch init gui")
HARMLESS_KEYS = names(
    "core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode"
    " core.symlinks core.autocrlf core.eol core.safecrlf core.quotepath core.abbrev core.longpaths core.untrackedcache"
    " core.preloadindex core.sharedrepository core.protectntfs core.protecthfs core.checkstat core.trustctime"
    " core.worktree core.sparsecheckout core.sparsecheckoutcone core.commentchar core.compression"
    " remote.url remote.fetch remote.pushurl remote.tagopt remote.prune remote.gh-resolved submodule.url"
    " submodule.active extensions.objectformat extensions.worktreeconfig extensions.refstorage"
    " extensions.relativeworktrees extensions.preciousobjects commit.gpgsign"
    " tag.gpgsign merge.conflictstyle merge.ff rebase.autostash rebase.autosquash gc.auto maintenance.auto"
    " maintenance.strategy lfs.repositoryformatversion lfs.locksverify lfs.access diff.algorithm diff.renames"
    " diff.colormoved diff.noprefix diff.mnemonicprefix rerere.enabled index.version index.sparse feature.manyfiles"
)


def is_harmless(key: str) -> bool:
    """It starts no program, and has git read nothing from elsewhere."""
    return key in HARMLESS_KEYS or key.partition(".")[0] in HARMLESS_SECTIONS


def leads_elsewhere(key: str) -> bool:
    """With it even a look at the history may fetch what is missing, or read what is elsewhere; or nobody knows."""
    section = key.partition(".")[0]
    return (
        section in ("include", "includeif")
        or key in ("remote.promisor", "remote.partialclonefilter")
        or (section == "extensions" and key not in HARMLESS_KEYS)
    )


def contents(file: Path, limit: int) -> bytes:
    """Of a regular file; `ValueError` for what is none, or too large."""
    if not file.is_file():
        raise ValueError("no file")
    with file.open("rb") as opened:
        text = opened.read(limit + 1)
    if len(text) > limit:
        raise ValueError("too large")
    return text


def settings(file: Path) -> Iterator[tuple[str, str]]:
    """Keys and values, without the names of remotes and branches; `ValueError` for what is not written as usual."""
    text = contents(file, MAX_BYTES).decode()
    if "\0" in text:
        raise ValueError("a NUL character")
    section = ""
    for raw in text.split("\n"):
        line = raw.strip(" \t\r")
        if not line or line[0] in "#;":
            continue
        if found := _SECTION.fullmatch(line):
            section = found[1].lower()
            if section in ("include", "includeif"):
                yield section, ""
        elif section and (found := _KEY.fullmatch(line)) and not line.endswith("\\"):
            # The names between are of remotes and branches; other sections mean different things with and without.
            yield f"{section}.{found[1].lower()}", found[2] or ""
        else:
            raise ValueError(line)
