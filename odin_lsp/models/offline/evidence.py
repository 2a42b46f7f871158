"""What the tools have shown, and which places of it matter. Everything that is quoted comes from here."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from odin_lsp.models.offline.terms import Terms
from odin_lsp.models.offline.turn import Done, Turn


@dataclass(frozen=True, slots=True)
class Evidence:
    lines: Mapping[str, Mapping[int, str]]
    """By path and number, the text of each line that was shown."""
    hits: tuple[tuple[str, int], ...]
    """The lines that a search found, each once."""
    files: tuple[str, ...]
    """The files that were found by name."""
    definitions: Mapping[tuple[str, int], str]
    """The symbols that were looked up, by the lines on which they are defined."""
    callers: Mapping[str, "Callers"]
    """By symbol."""

    def has_definition(self, name: str) -> bool:
        return any(_defined_at(self, path, line) == name for path, line in self.hits)


@dataclass(frozen=True, slots=True)
class Caller:
    path: str
    line: int
    text: str
    within: str
    """The function that it is part of, if any."""


@dataclass(frozen=True, slots=True)
class Callers:
    found: tuple[Caller, ...]
    note: str
    """Who says so, and what may be missing."""


@dataclass(frozen=True, slots=True)
class Place:
    path: str
    line: int
    score: float
    defines: str | None
    """The name that is defined there, if it is one that is looked for."""
    met: tuple[str, ...]
    """The terms that occur there."""


def gather(done: Iterable[Done]) -> Evidence:
    lines: defaultdict[str, dict[int, str]] = defaultdict(dict)
    hits: dict[tuple[str, int], None] = {}
    files: dict[str, None] = {}
    definitions: dict[tuple[str, int], str] = {}
    callers: dict[str, Callers] = {}
    for item in done:
        if item.result.failed:
            continue
        match item.call.name:
            case "Grep":
                for path, number, text in _found(item.result.content):
                    lines[path][number] = text
                    hits[path, number] = None
            case "Read":
                lines[str(item.call.arguments["file_path"])].update(numbered(item.result.content))
            case "Glob":
                files.update(dict.fromkeys(paths(item.result.content)))
            case "Lookup":
                symbol, found = str(item.call.arguments["symbol"]), _looked_up(item.result.content)
                for it in found.found:
                    lines[it.path][it.line] = it.text
                if item.call.arguments["what"] == "callers":
                    callers[symbol] = found
                else:
                    hits.update(dict.fromkeys((it.path, it.line) for it in found.found))
                    definitions.update({(it.path, it.line): symbol for it in found.found})
            case _:
                pass
    return Evidence(lines, tuple(hits), tuple(files), definitions, callers)


def numbered(content: str) -> Iterator[tuple[int, str]]:
    """The lines of a `Read`; notes have no number and are left out."""
    for line in content.split("\n"):
        if match := _NUMBERED.match(line):
            yield int(match[1]), match[2].removesuffix("\r")


def paths(content: str) -> Iterator[str]:
    """The paths of a list of files, without notes and the remark that one is cached."""
    return (line.removesuffix(" (cached)") for line in content.split("\n") if not _NOTE.match(line))


def rank(evidence: Evidence, terms: Terms, turn: Turn) -> tuple[Place, ...]:
    """Places that meet a term, the most telling first: definitions before mentions, code before documents
    before tests, files that meet many terms before those that meet one."""
    met = {(path, line): terms.met_by(evidence.lines[path][line]) for path, line in evidence.hits}
    per_file: defaultdict[str, set[str]] = defaultdict(set)
    for (path, _), found in met.items():
        per_file[path] |= found
    files = {path: _File.judge(turn.shown(path), terms, len(per_file[path])) for path in (*per_file, *evidence.files)}
    seen = (
        _place(path, line, _defined_at(evidence, path, line), files[path], found, terms)
        for (path, line), found in met.items()
        if found or files[path].named
    )
    by_name = (
        Place(path, 1, files[path].score + 15 * files[path].named, None, ())
        for path in evidence.files
        if files[path].named or (not per_file[path] and files[path].met)
    )
    return tuple(sorted((*seen, *by_name), key=lambda place: (-place.score, len(place.path), place.path, place.line)))


def best(places: tuple[Place, ...], count: int) -> tuple[Place, ...]:
    """The first `count` places that do not overlap and come near the first of all."""
    chosen: list[Place] = []
    for place in places:
        near = [other for other in chosen if other.path == place.path]
        if place.score < places[0].score / 4 or len(chosen) == count:
            break
        if len(near) < _PER_FILE and all(abs(other.line - place.line) > BLOCK for other in near):
            chosen.append(place)
    return tuple(chosen)


_PER_FILE = 3
BLOCK = 12
"""Lines of a definition that are quoted at most."""


def block(lines: Mapping[int, str], first: int) -> tuple[str, ...]:
    """A definition from its first line to where its indentation ends."""
    margin = _indent(lines.get(first, ""))
    return _take(
        lines,
        first,
        BLOCK,
        lambda text: not text.strip() or _indent(text) > margin or text.lstrip()[0] in ")]}",
    )


def passage(lines: Mapping[int, str], first: int) -> tuple[str, ...]:
    """A line and the few that follow it."""
    return _take(lines, first, 4, lambda text: bool(text.strip()))


def section(lines: Mapping[int, str], first: int) -> tuple[str, ...]:
    """From a heading to the next one."""
    return _take(lines, first, BLOCK, lambda text: not text.startswith(("#", "[")))


def defined(text: str) -> str | None:
    """The name that a line of code defines."""
    match = _DEFINES.match(text) or _ASSIGNS.match(text)
    return match[1] if match else None


DEFINITION = (
    r"^\s*(?:(?:export|default|declare|async|public|private|protected|static|abstract|final|unsafe|local"
    r"|pub(?:\([a-z]+\))?)\s+)*"
    r"(?:def|class|function|fn|func|const|let|var|interface|type|struct|enum|trait|module)\s+"
    r"(?:\([^)]*\)\s*)?(?:\w+[.:])*"
)
"""How the line of a definition begins, up to the name, in the dialects of both Python and ripgrep."""

_DEFINES = re.compile(DEFINITION + r"(\w+)")
_ASSIGNS = re.compile(r"(?:export\s+)?([^\W\d]\w*)(?:\s*:[^=]+|\s*)=(?!=)")
_FOUND = re.compile(r"(\d+):(.*)", re.DOTALL)
_LOOKED_UP = re.compile(r"(?P<line>\d+):(?P<text>.*?)(?:  \[in (?P<within>[^\]]+)\])?(?:  \[by name\])?", re.DOTALL)
_NOTE = re.compile(r"\(|No (?:files|matches) found|\Z")
_NUMBERED = re.compile(r"\s*(\d+)\t(.*)", re.DOTALL)


def _found(content: str) -> Iterator[tuple[str, int, str]]:
    for block in content.split("\n\n"):
        path, *lines = block.split("\n")
        for line in lines:
            if match := _FOUND.fullmatch(line):
                yield path, int(match[1]), match[2].removesuffix("\r")


def _looked_up(content: str) -> Callers:
    """Lines below their files; the last line says who says so."""
    *lines, note = content.split("\n")
    found: list[Caller] = []
    path = ""
    for line in lines:
        if match := _LOOKED_UP.fullmatch(line):
            found.append(Caller(path, int(match["line"]), match["text"], match["within"] or ""))
        else:
            path = line
    return Callers(tuple(found), note.strip("()"))


@dataclass(frozen=True, slots=True)
class _File:
    """What speaks for a file before any of its lines is looked at."""

    score: float
    named: bool
    """The question names it."""
    met: int
    """How many terms its name meets."""

    @classmethod
    def judge(cls, shown: str, terms: Terms, distinct: int) -> "_File":
        named = any(f"/{shown}".endswith(f"/{file}") for file in terms.files)
        path = PurePosixPath(shown)
        met = len(terms.met_by(path.stem))
        wanted = any(word.stem in _ASKS_FOR[kind(shown)] for word in terms.words)
        penalty = 0 if wanted else _PENALTIES[kind(shown)]
        return cls(30 * named + 8 * met + 4 * distinct - 0.5 * len(path.parts) - penalty, named, met)


def _defined_at(evidence: Evidence, path: str, line: int) -> str:
    return evidence.definitions.get((path, line)) or defined(evidence.lines[path][line]) or ""


def _place(path: str, line: int, name: str, file: _File, met: frozenset[str], terms: Terms) -> Place:
    ordered = tuple(term for term in terms.all_written() if term in met)
    score = file.score + sum(15 if term in terms.names else 8 for term in met) + 6 * len(met)
    words = [word for word in terms.words if word.occurs_in(name)]
    if name.lower() in {wanted.lower() for wanted in terms.identifiers}:
        return Place(path, line, score + 60, name, ordered)
    if words:
        exact = any(word.text == name.lower() for word in words)
        return Place(path, line, score + 12 * len(words) + 10 * exact, name, ordered)
    if name and file.named:
        return Place(path, line, score + 10, name, ordered)
    return Place(path, line, score, None, ordered)


Kind = Literal["code", "documents", "tests", "noise"]

_PENALTIES: Mapping[Kind, int] = {"code": 0, "documents": 8, "tests": 24, "noise": 40}
_ASKS_FOR: Mapping[Kind, frozenset[str]] = {
    "code": frozenset(),
    "documents": frozenset({"doc", "document", "readme"}),
    "tests": frozenset({"test"}),
    "noise": frozenset(),
}


def kind(shown: str) -> Kind:
    path = PurePosixPath(shown)
    if _NOISE & set(path.parts) or path.suffix in _NOISE_SUFFIXES or path.name == "package-lock.json":
        return "noise"
    if _TESTS & set(path.parts) or re.search(r"^test_|_test\.|\.(?:test|spec)\.", path.name):
        return "tests"
    return "documents" if path.suffix in _DOCUMENT_SUFFIXES else "code"


_NOISE = frozenset({"node_modules", "vendor", "dist", "build", ".venv", "__pycache__"})
_NOISE_SUFFIXES = frozenset({".lock", ".map", ".svg", ".log", ".csv", ".jsonl"})
_TESTS = frozenset({"test", "tests", "spec", "specs", "__tests__"})
_DOCUMENT_SUFFIXES = frozenset({".md", ".rst", ".txt", ".adoc", ""})


def _take(lines: Mapping[int, str], first: int, limit: int, goes_on: Callable[[str], bool]) -> tuple[str, ...]:
    taken: list[str] = []
    for number in range(first, first + limit):
        text = lines.get(number)
        if text is None or len(text) > _LONGEST or (taken and not goes_on(text)):
            break
        taken.append(text)
    while taken and not taken[-1].strip():
        taken.pop()
    return tuple(taken)


_LONGEST = 300
"""Longer lines are left out: what is quoted must be the whole line."""


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())
