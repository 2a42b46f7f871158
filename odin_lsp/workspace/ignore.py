"""Files that no tool shows to a model: secrets, what the settings deny, what a `.odinignore` leaves out."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from odin_lsp.config import FileRules
from odin_lsp.reading import start_of
from odin_lsp.workspace.globs import as_text, compiled_leniently
from odin_lsp.workspace.secret_names import is_secret, secrets_among
from odin_lsp.workspace.text import split_lines
from odin_lsp.workspace.uris import folded

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

FILE_NAME = ".odinignore"
MAX_RULES_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class _Way:
    """What the `.odinignore`s say of a folder, and those that say something of what is in it."""

    folder: str
    is_left_out: bool = False
    rules: "tuple[tuple[str, GitIgnoreSpec], ...]" = ()
    """With the folder of each, which ends with a slash; the deepest is the last."""

    def leaves_out(self, name: str) -> bool:
        """As git reads nested `.gitignore`s: the deepest rule decides; what is in a folder left out stays out."""
        verdict = None
        for start, spec in self.rules:
            inner = as_text(f"{self.folder}/{name}"[len(start) :])
            # `private/` means the folder as well as what is in it, and nobody is told whether it is one.
            for spelling in (inner, f"{inner}/"):
                include = spec.check_file(spelling).include
                verdict = include if include is not None else verdict
        return self.is_left_out or bool(verdict)


class Ignore:
    def __init__(self, roots: Sequence[Path], rules: FileRules) -> None:
        self._starts = sorted((f"{root.as_posix().rstrip('/')}/" for root in roots), key=len)
        self._deny = [_Rules(patterns) for patterns in rules.denials]
        self._allow = _Rules(rules.allow)
        self._files: dict[str, tuple[int, GitIgnoreSpec | None]] = {}

    def hides(self, path: Path) -> bool:
        """Whether the file at this path, if there is one, is none of the model's business."""
        text = path.as_posix()
        around = self._roots_around(text)
        names = [text[len(it) :] or "." for it in around] or [text.lstrip("/")]
        if self._deny and self._is_denied(_folded(text.lstrip("/")), map(_folded, names)):
            return True
        if around and self._is_left_out(around[0].rstrip("/"), [it for it in names[0].split("/") if it != "."]):
            return True
        parts = names[-1].split("/")
        if not is_secret(parts) or any(self._allow.match(_folded(text.lstrip("/")), _folded(name)) for name in names):
            return False
        return is_secret(parts, is_folder=True) or not os.path.isdir(text)  # noqa: PTH112 - it raises nothing

    def visible(self, below: str, folders: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
        """Those of the files below a folder that `hides` does not hide, by the folders that they are in. Each is looked
        at once, however many files are in it."""
        ways: dict[str, _Way] = {}
        return {
            inner: self._visible_in(f"{below}/{inner}" if inner else below, names, ways)
            for inner, names in folders.items()
        }

    def hidden_in(self, folder: str, names: Iterable[str]) -> list[str]:
        """Which of these names in a folder of the workspace are hidden. Most folders have no rules but the names."""
        all_names = list(names)
        visible = set(self._visible_in(folder, all_names, {}))
        return [name for name in all_names if name not in visible]

    def _visible_in(self, folder: str, names: Sequence[str], ways: dict[str, _Way]) -> Sequence[str]:
        """Those of the names in one folder. What is known of ways to folders is in `ways`, for the next one."""
        start = f"{folder}/"
        around = self._roots_around(folder)
        inner = [start[len(it) :] for it in around] or [start.lstrip("/")]
        way = self._way_to(folder, around[0].rstrip("/"), ways) if around else _Way(folder)
        if way.is_left_out:
            return ()
        if way.rules:
            names = [name for name in names if not way.leaves_out(name)]
        if self._deny:
            above, starts = _folded(start.lstrip("/")), [_folded(it) for it in inner]
            own = ((name, as_text(folded(name))) for name in names)
            names = [name for name, own in own if not self._is_denied(above + own, (it + own for it in starts))]
        parts = inner[-1].split("/")[:-1]
        suspects = names if is_secret(parts, is_folder=True) else secrets_among(parts[-1] if parts else "", names)
        hidden = {name for name in suspects if self.hides(Path(start + name))}
        return [name for name in names if name not in hidden] if hidden else names

    def _roots_around(self, text: str) -> list[str]:
        """The starts of paths in the workspace folders that a path is in, the outermost first."""
        return [it for it in self._starts if f"{text}/".startswith(it)]  # strings: this is asked for every hit

    def _is_denied(self, absolute: str, names: Iterable[str]) -> bool:
        relative = list(names)
        return any(rules.match(absolute, name) for rules in self._deny for name in relative)

    def _is_left_out(self, root: str, parts: Sequence[str]) -> bool:
        way = self._begun(root)
        for part in parts[:-1]:
            way = self._inner(way, part)
        return bool(parts) and way.leaves_out(parts[-1])

    def _way_to(self, folder: str, root: str, known: dict[str, _Way]) -> _Way:
        """From the root on, which the folder is in or is itself."""
        parts: list[str] = []
        outer = folder
        while outer != root and outer not in known:
            outer, _, part = outer.rpartition("/")
            parts.append(part)
        way = known.get(outer) or known.setdefault(outer, self._begun(outer))
        for part in reversed(parts):
            way = self._inner(way, part)
            known[way.folder] = way
        return way

    def _begun(self, root: str) -> _Way:
        rules = self._rules_in(root)
        return _Way(root, rules=((f"{root}/", rules),) if rules is not None else ())

    def _inner(self, way: _Way, name: str) -> _Way:
        """The way on into a folder in it."""
        folder = f"{way.folder}/{name}"
        if way.leaves_out(name):
            return _Way(folder, is_left_out=True)
        rules = self._rules_in(folder)
        return _Way(folder, rules=(*way.rules, (f"{folder}/", rules)) if rules is not None else way.rules)

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

    def match(self, absolute: str, name: str) -> bool:
        """The path in full, without the slash that it begins with, and below a folder; both folded."""
        found = self._absolute is not None and self._absolute.match_file(absolute)
        return found or (self._relative is not None and self._relative.match_file(name))


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
