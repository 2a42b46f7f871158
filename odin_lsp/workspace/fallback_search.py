"""`rg` for machines that have none: the few options that Odin uses, in Python, in a process of its own so that a slow
pattern can be ended.
"""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from odin_lsp import system
from odin_lsp.workspace.globs import as_text, braces, compiled
from odin_lsp.workspace.ignore_files import UNREAD, IgnoreFiles
from odin_lsp.workspace.text import Lines, decode, split_lines

TYPES = {
    "py": "*.py", "js": "*.js", "ts": "*.ts", "rust": "*.rs", "go": "*.go", "java": "*.java", "c": "*.[ch]",
    "cpp": "*.[ch]pp", "md": "*.md", "json": "*.json", "yaml": "*.y*ml", "toml": "*.toml", "html": "*.html",
    "css": "*.css", "sh": "*.sh",
}  # fmt: skip
MAX_FILE_BYTES = 64 * 1024 * 1024
HERE = "./"
Accepts = Callable[[str], bool]


def main() -> int:
    options = _options(sys.argv[1:])
    found = False
    for path in _walk(options) if options.where == HERE else [options.where]:
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
    where: str = HERE

    def number(self, name: str) -> int:
        return int(self.values.get(name, "0"))


def _options(arguments: Sequence[str]) -> Options:
    """Options look like `--name` or `--name=value`; after `--` stands where to search."""
    options = Options(where=arguments[-1])
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


def _walk(options: Options) -> Iterator[str]:
    """The files below that are wanted, without what a `.gitignore` and its like leave out."""
    wanted = _filter(options)
    rules = IgnoreFiles()
    is_read = not options.flags.issuperset(it.removeprefix("--") for it in UNREAD)
    top = os.getcwd().rstrip("/")  # noqa: PTH109 - called once, and paths are strings here
    todo = [HERE]
    while todo:
        folder = todo.pop()
        try:
            entries = _entries(folder)
        except OSError:
            continue
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            path = f"{folder}{entry.name}"
            if is_read and rules.match(f"{top}/{path.removeprefix(HERE)}", is_folder=is_folder):
                continue
            if is_folder:
                todo.append(f"{path}/")
            elif entry.is_file(follow_symlinks=False) and wanted(path.removeprefix(HERE)):
                yield path


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in the folder itself, and not behind a link that has taken its place."""
    descriptor = system.open_no_link(folder, os.O_RDONLY | system.FOLDER | system.OWN)
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
        only = compiled(it for glob in options.globs if not glob.startswith("!") for it in braces(glob))
        without = compiled(glob[1:] for glob in options.globs if glob.startswith("!"))
        kinds = compiled(braces(options.types[kind]) if kind else [])
    except ValueError as error:
        _fail(f"error parsing glob: {error}")

    def accepts(path: str) -> bool:
        name = as_text(path)
        return not (
            without.match_file(name)
            or (len(only) and not only.match_file(name))
            or (len(kinds) and not kinds.match_file(name.rpartition("/")[2]))
        )

    return accepts


def _text(path: str) -> str | None:
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | system.NO_WAIT | system.OWN), "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError:
        return None
    content = decode(data) if len(data) <= MAX_FILE_BYTES else None
    return content.text if content else None


def _matching_lines(content: str, lines: list[str], options: Options) -> set[int]:
    flags = re.IGNORECASE if "ignore-case" in options.flags else re.NOFLAG
    multiline = "multiline" in options.flags
    wanted = re.escape(options.values["regexp"]) if "fixed-strings" in options.flags else options.values["regexp"]
    wanted = rf"(?<!\w)(?:{wanted})(?!\w)" if "word-regexp" in options.flags else wanted
    try:
        pattern = re.compile(wanted, flags | (re.DOTALL | re.MULTILINE if multiline else re.NOFLAG))
    except re.error as error:
        _fail(f"regex parse error:\nerror: {error}")
    if not multiline:
        return {number for number, line in enumerate(lines) if pattern.search(line)}
    hits, places = set[int](), Lines(content)
    for match in pattern.finditer(content):
        first, last = places.numbers(match.start(), match.end())
        hits.update(range(first - 1, last))
    return hits


def _print(path: str, lines: list[str], hits: list[int], options: Options) -> None:
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
