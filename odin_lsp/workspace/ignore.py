"""Files that no tool shows to a model: secrets, what the settings deny, what a `.odinignore` leaves out."""

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from odin_lsp.config import FileRules
from odin_lsp.workspace.uris import folded

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

FILE_NAME = ".odinignore"
SECRET_NAMES = (
    ".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.keystore", "*.jks", "*.kdbx", "id_rsa", "id_dsa",
    "id_ecdsa", "id_ed25519", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", "kubeconfig",
    "credentials.json",
)  # fmt: skip
SECRET_FOLDERS = (".ssh", ".aws", ".gnupg")
PUBLIC_NAMES = (".env.example", ".env.sample", ".env.template")


def is_secret(path: PurePath) -> bool:
    name = folded(path.name)
    if name in PUBLIC_NAMES:
        return False
    return any(fnmatchcase(name, secret) for secret in SECRET_NAMES) or any(
        folded(part) in SECRET_FOLDERS for part in path.parts
    )


class Ignore:
    def __init__(self, roots: Sequence[Path], rules: FileRules) -> None:
        self.roots = roots
        self._deny = _Rules(rules.deny)
        self._allow = _Rules(rules.allow)
        self._files: dict[Path, tuple[int, GitIgnoreSpec | None]] = {}

    def hides(self, path: Path) -> bool:
        """Whether the file at this path, if there is one, is none of the model's business."""
        root = next((root for root in self.roots if path.is_relative_to(root)), None)
        name = path.relative_to(root).as_posix() if root else path.as_posix().lstrip("/")
        if self._deny.match(path, name) or (root is not None and self._left_out(root, PurePath(name))):
            return True
        return is_secret(PurePath(name)) and not self._allow.match(path, name)

    def _left_out(self, root: Path, name: PurePath) -> bool:
        """As git reads nested `.gitignore`s: the deepest rule decides; what is in a folder left out stays out."""
        parents = [*reversed(name.parents), name]
        for depth, place in enumerate(parents[1:], 1):
            verdict = None
            for folder in parents[:depth]:
                if (rules := self._rules_in(root / folder)) is not None:
                    inner = place.relative_to(folder).as_posix() + ("" if place == name else "/")
                    found = rules.check_file(inner).include
                    verdict = found if found is not None else verdict
            if verdict:
                return True
        return False

    def _rules_in(self, folder: Path) -> "GitIgnoreSpec | None":
        try:
            stamp = os.stat(folder / FILE_NAME).st_mtime_ns  # noqa: PTH116 - called for every folder of every hit
        except OSError:
            return None
        known = self._files.get(folder)
        if known is None or known[0] != stamp:
            lines = (folder / FILE_NAME).read_text(encoding="utf-8", errors="replace").splitlines()
            known = self._files[folder] = (stamp, _spec(lines))
        return known[1]


class _Rules:
    """Patterns of the settings: relative to each workspace folder, or absolute."""

    def __init__(self, patterns: Sequence[str]) -> None:
        spelled = [_spelled(pattern) for pattern in patterns]
        self._absolute = _spec([it for it in spelled if it.startswith("/")])
        self._relative = _spec([it for it in spelled if not it.startswith("/")])

    def match(self, path: Path, name: str) -> bool:
        found = self._absolute is not None and self._absolute.match_file(path.as_posix().lstrip("/"))
        return found or (self._relative is not None and self._relative.match_file(name))


def _spec(lines: Sequence[str]) -> "GitIgnoreSpec | None":
    if not lines:
        return None
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)


def _spelled(pattern: str) -> str:
    """`~`, `$HOME`, backslashes and a slash at the end mean the same as what they stand for."""
    text = os.path.expanduser(os.path.expandvars(pattern.strip()))  # noqa: PTH111 - a pattern is no path
    return text.replace("\\", "/").rstrip("/") or "/"
