"""`rg` for machines that have none: the few options that Odin uses, in Python, in a process of its own so that a slow
pattern can be ended."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from odin_lsp.workspace.globs import as_text, compiled, compiled_leniently
from odin_lsp.workspace.text import decode, split_lines

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

TYPES = {
    "py": "*.py", "js": "*.js", "ts": "*.ts", "rust": "*.rs", "go": "*.go", "java": "*.java", "c": "*.[ch]",
    "cpp": "*.[ch]pp", "md": "*.md", "json": "*.json", "yaml": "*.y*ml", "toml": "*.toml", "html": "*.html",
    "css": "*.css", "sh": "*.sh",
}  # fmt: skip
MAX_FILE_BYTES = 64 * 1024 * 1024
Accepts = Callable[[Path], bool]


def main() -> int:
    options = _options(sys.argv[1:])
    root = options.where
    wanted = _filter(options)
    found = False
    for path in [root] if root.is_file() else _walk(root):
        if not wanted(path):
            continue
        if "files" in options.flags:
            _write(f"{path}\0")
            continue
        content = _text(path)
        if content is None:
            continue
        lines = split_lines(content)
        hits = _matching_lines(content, lines, options)
        if hits:
            found = True
            _print(path, lines, sorted(hits), options)
    return 0 if found or "files" in options.flags else 1


@dataclass(slots=True)
class Options:
    flags: set[str] = field(default_factory=set[str])
    values: dict[str, str] = field(default_factory=dict[str, str])
    globs: list[str] = field(default_factory=list[str])
    types: dict[str, str] = field(default_factory=lambda: dict(TYPES))
    where: Path = field(default_factory=Path)

    def number(self, name: str) -> int:
        return int(self.values.get(name, "0"))


def _options(arguments: Sequence[str]) -> Options:
    """Options look like `--name` or `--name=value`; after `--` stands where to search."""
    options = Options(where=Path(arguments[-1]))
    for argument in arguments[:-2]:
        name, has_value, value = argument.removeprefix("--").partition("=")
        if name == "glob":
            options.globs.append(value)
        elif name == "type-add":
            kind, _, glob = value.partition(":")
            options.types[kind] = glob
        elif has_value:
            options.values[name] = value
        else:
            options.flags.add(name)
    return options


def _fail(message: str) -> NoReturn:
    sys.stderr.write(f"{message}\n")
    sys.exit(2)


def _walk(root: Path) -> Iterator[Path]:
    """The files below, without what a `.gitignore` on the way leaves out."""
    todo: list[tuple[str, tuple[tuple[str, GitIgnoreSpec], ...]]] = [(str(root), ())]
    while todo:
        folder, ignored = todo.pop()
        try:
            entries = _entries(folder)
        except OSError:
            continue
        if any(entry.name == ".gitignore" and entry.is_file(follow_symlinks=False) for entry in entries):
            text = Path(folder, ".gitignore").read_text(encoding="utf-8", errors="replace")
            found = compiled_leniently(text.splitlines())
            ignored = (*ignored, (folder, found)) if found is not None else ignored
        for entry in entries:
            path = f"{folder}/{entry.name}"
            is_folder = entry.is_dir(follow_symlinks=False)
            name = path + ("/" if is_folder else "")
            if any(spec.match_file(as_text(name[len(base) + 1 :])) for base, spec in ignored):
                continue
            if is_folder:
                todo.append((path, ignored))
            elif entry.is_file(follow_symlinks=False):
                yield Path(path)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in the folder itself, and not behind a link that has taken its place."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        with os.scandir(descriptor) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
        for entry in entries:
            entry.is_dir(follow_symlinks=False)  # looked up now, while the folder is open
        return entries
    finally:
        os.close(descriptor)


def _filter(options: Options) -> Accepts:
    kind = options.values.get("type")
    if kind and kind not in options.types:
        _fail(f"unrecognized file type: {kind}")
    # As in rg: what starts with `!` is left out; other globs mean that only what they match counts.
    try:
        only = compiled(glob for glob in options.globs if not glob.startswith("!"))
        without = compiled(glob[1:] for glob in options.globs if glob.startswith("!"))
        kinds = compiled([options.types[kind]] if kind else [])
    except ValueError as error:
        _fail(f"error parsing glob: {error}")

    here = Path.cwd()

    def accepts(path: Path) -> bool:
        name = as_text(path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix())
        return not (
            without.match_file(name)
            or (len(only) and not only.match_file(name))
            or (len(kinds) and not kinds.match_file(as_text(path.name)))
        )

    return accepts


def _text(path: Path) -> str | None:
    try:
        content = decode(path.read_bytes()) if path.stat().st_size <= MAX_FILE_BYTES else None
    except OSError:
        return None
    return content.text if content else None


def _matching_lines(content: str, lines: list[str], options: Options) -> set[int]:
    flags = re.IGNORECASE if "ignore-case" in options.flags else re.NOFLAG
    multiline = "multiline" in options.flags
    try:
        pattern = re.compile(options.values["regexp"], flags | (re.DOTALL | re.MULTILINE if multiline else re.NOFLAG))
    except re.error as error:
        _fail(f"regex parse error: {error}")
    if not multiline:
        return {number for number, line in enumerate(lines) if pattern.search(line)}
    hits: set[int] = set()
    for match in pattern.finditer(content):
        first = len(split_lines(content[: match.start()] + "."))
        hits.update(range(first - 1, first - 1 + max(1, len(split_lines(match.group())))))
    return hits


def _print(path: Path, lines: list[str], hits: list[int], options: Options) -> None:
    if "files-with-matches" in options.flags:
        _write(f"{path}\0")
    elif "count" in options.flags:
        _write(f"{path}\0{len(hits)}\n")
    else:
        matching = set(hits)
        shown = {
            number
            for hit in hits
            for number in range(hit - options.number("before-context"), hit + options.number("after-context") + 1)
            if 0 <= number < len(lines)
        }
        for number in sorted(shown):
            line = lines[number][: options.number("max-columns") or None]
            _write(f"{path}\0{number + 1}{':' if number in matching else '-'}{line}\n")


def _write(text: str) -> None:
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))


if __name__ == "__main__":
    sys.exit(main())
