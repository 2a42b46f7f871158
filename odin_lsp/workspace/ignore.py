"""Files that no tool shows to a model: secrets, what the settings deny, what a `.odinignore` leaves out."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from odin_lsp.config import FileRules
from odin_lsp.reading import start_of
from odin_lsp.workspace.globs import as_text, compiled_leniently
from odin_lsp.workspace.secret_names import is_secret
from odin_lsp.workspace.text import split_lines
from odin_lsp.workspace.uris import folded

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

FILE_NAME = ".odinignore"
MAX_RULES_BYTES = 1 << 20


class Ignore:
    def __init__(self, roots: Sequence[Path], rules: FileRules) -> None:
        self._starts = sorted((f"{root.as_posix().rstrip('/')}/" for root in roots), key=len)
        self._deny = [_Rules(patterns) for patterns in rules.denials]
        self._allow = _Rules(rules.allow)
        self._files: dict[str, tuple[int, GitIgnoreSpec | None]] = {}

    def hides(self, path: Path) -> bool:
        """Whether the file at this path, if there is one, is none of the model's business."""
        text = path.as_posix()
        around = [it for it in self._starts if f"{text}/".startswith(it)]  # strings: this is asked for every hit
        names = [text[len(it) :] or "." for it in around] or [text.lstrip("/")]
        if any(rules.match(path, name) for rules in self._deny for name in names):
            return True
        if around and self._left_out(around[0].rstrip("/"), [it for it in names[0].split("/") if it != "."]):
            return True
        return is_secret(names[-1].split("/")) and not any(self._allow.match(path, name) for name in names)

    def hidden_in(self, folder: str, names: Iterable[str]) -> list[str]:
        """Which of these names in a folder of the workspace are hidden. Most folders have no rules but the names."""
        if self._deny or any(self._rules_in(it) for it in self._up_to_root(folder)):
            return [name for name in names if self.hides(Path(folder, name))]
        above = folder.rpartition("/")[2]
        return [name for name in names if is_secret((above, name)) and self.hides(Path(folder, name))]

    def _up_to_root(self, folder: str) -> Iterator[str]:
        inside = f"{folder}/"
        while any(inside.startswith(start) for start in self._starts):
            yield folder
            folder = folder.rpartition("/")[0]
            inside = f"{folder}/"

    def _left_out(self, folder: str, parts: Sequence[str]) -> bool:
        """As git reads nested `.gitignore`s: the deepest rule decides; what is in a folder left out stays out."""
        rules: list[tuple[int, GitIgnoreSpec]] = []
        for depth, part in enumerate(parts):
            if (found := self._rules_in(folder)) is not None:
                rules.append((depth, found))
            folder = f"{folder}/{part}"
            verdict = None
            for start, spec in rules:
                inner = as_text("/".join(parts[start : depth + 1]))
                # `private/` means the folder as well as what is in it, and nobody is told whether it is one.
                for spelling in (inner, f"{inner}/"):
                    include = spec.check_file(spelling).include
                    verdict = include if include is not None else verdict
            if verdict:
                return True
        return False

    def _rules_in(self, folder: str) -> "GitIgnoreSpec | None":
        name = f"{folder}/{FILE_NAME}"
        try:
            status = os.stat(name)  # noqa: PTH116 - called for every folder of every hit
        except (OSError, ValueError):
            return None
        known = self._files.get(folder)
        if known is None or known[0] != status.st_mtime_ns:
            known = self._files[folder] = (status.st_mtime_ns, compiled_leniently(split_lines(_start_of(name))))
        return known[1]


class _Rules:
    """Patterns of the settings: relative to each workspace folder, or absolute."""

    def __init__(self, patterns: Sequence[str]) -> None:
        spelled = [_folded(it) for pattern in patterns for it in _spelled(pattern)]
        self._absolute = compiled_leniently([it for it in spelled if it.startswith("/")])
        self._relative = compiled_leniently([it for it in spelled if not it.startswith("/")])

    def match(self, path: Path, name: str) -> bool:
        found = self._absolute is not None and self._absolute.match_file(_folded(path.as_posix().lstrip("/")))
        return found or (self._relative is not None and self._relative.match_file(_folded(name)))


def _start_of(name: str) -> str:
    try:
        return (start_of(name, MAX_RULES_BYTES) or b"").decode("utf-8", "replace")
    except OSError:
        return ""


def _spelled(pattern: str) -> Iterator[str]:
    """`~`, `$HOME`, backslashes and a slash at the end mean the same as what they stand for, and so does a link."""
    text = os.path.expanduser(os.path.expandvars(pattern.strip()))  # noqa: PTH111 - a pattern is no path
    text = text.replace("\\", "/").rstrip("/") or "/**"
    yield text
    if text.startswith("/"):
        parts = text.split("/")
        fixed = next((index for index, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
        yield "/".join([os.path.realpath("/".join(parts[:fixed]) or "/").rstrip("/"), *parts[fixed:]])


def _folded(name: str) -> str:
    return as_text("/".join(map(folded, name.split("/"))))
