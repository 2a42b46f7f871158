"""What can be told about a project from its files alone: languages, parts, and how it is run."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from odin_lsp.foreign_data import ForeignDataError, parse_foreign_json, parse_foreign_toml
from odin_lsp.values import is_object
from odin_lsp.workspace.name_list import FileNames, suffix_of

LANGUAGES = {
    ".py": "Python", ".pyi": "Python", ".ts": "TypeScript", ".tsx": "TypeScript", ".js": "JavaScript",
    ".jsx": "JavaScript", ".mjs": "JavaScript", ".go": "Go", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin",
    ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".rb": "Ruby", ".php": "PHP",
    ".swift": "Swift", ".scala": "Scala", ".lua": "Lua", ".sh": "Shell", ".bash": "Shell", ".sql": "SQL",
    ".html": "HTML", ".css": "CSS", ".scss": "CSS", ".vue": "Vue", ".svelte": "Svelte", ".ex": "Elixir",
    ".erl": "Erlang", ".hs": "Haskell", ".ml": "OCaml", ".zig": "Zig", ".dart": "Dart", ".r": "R", ".jl": "Julia",
}  # fmt: skip
READMES = ("README.md", "README.rst", "README.txt", "README")
MAX_TEXT = 256 * 1024
MAX_PARTS = 20
MAX_COMMANDS = 25


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    files: int
    language: str


@dataclass(frozen=True, slots=True)
class Survey:
    name: str
    summary: str
    """The first paragraph of its README."""
    languages: tuple[tuple[str, int], ...]
    """By the number of files, most first."""
    parts: tuple[Part, ...]
    """Its folders, and how many files each holds."""
    commands: tuple[tuple[str, str], ...]
    """What to type, and where that is said."""


def survey(files: FileNames, read: Callable[[Path], str | None]) -> Survey:
    """`files` are those that count; `read` gives a file's text as the user sees it."""

    def text(name: str) -> str:
        return (read(files.folder / name) or "")[:MAX_TEXT] if name in known else ""

    known = set(files.names)
    languages = Counter(it for name in files.names if (it := _language(name)))
    inside: dict[str, list[str]] = {}
    for name in files.names:
        part, is_inside, _ = name.partition("/")
        if is_inside:
            inside.setdefault(part, []).append(name)
    parts = sorted((_part(name, names) for name, names in inside.items()), key=lambda it: (-it.files, it.name))
    return Survey(
        files.folder.name,
        next(filter(None, (_first_paragraph(text(name)) for name in READMES)), ""),
        tuple(languages.most_common()),
        tuple(parts[:MAX_PARTS]),
        tuple(dict(_commands(text, known)).items())[:MAX_COMMANDS],
    )


def _part(name: str, names: Sequence[str]) -> Part:
    languages = Counter(it for name in names if (it := _language(name)))
    return Part(name, len(names), languages.most_common(1)[0][0] if languages else "")


def _language(name: str) -> str:
    return LANGUAGES.get(suffix_of(name), "")


def _first_paragraph(text: str) -> str:
    paragraphs = re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip())
    plain = (it.strip() for it in paragraphs)
    return next((it for it in plain if it and not re.match(r"[#=<!\[`\-|>]", it)), "")


def _commands(text: Callable[[str], str], known: set[str]) -> Iterator[tuple[str, str]]:
    for name in re.findall(r"^def (\w+)\(session\b", text("noxfile.py"), re.MULTILINE):
        yield f"nox -s {name}", "noxfile.py"
    for name in re.findall(r"^([A-Za-z][\w.-]*)\s*:(?!=)", text("Makefile"), re.MULTILINE):
        yield f"make {name}", "Makefile"
    for name in re.findall(r"^([a-z][\w-]*)[^:=\n]*:(?!=)", text("justfile"), re.MULTILINE):
        yield f"just {name}", "justfile"
    yield from ((f"npm run {name}", "package.json") for name in _table(_json(text("package.json")), "scripts"))
    project = _toml(text("pyproject.toml"))
    yield from ((name, "pyproject.toml") for name in _table(_table(project, "project"), "scripts"))
    if _table(_table(project, "tool"), "pytest") or "pytest.ini" in known:
        yield "pytest", "pyproject.toml" if project else "pytest.ini"
    for manifest, commands in BUILDS.items():
        if manifest in known:
            yield from ((command, manifest) for command in commands)


BUILDS = {
    "tox.ini": ("tox",),
    "Cargo.toml": ("cargo build", "cargo test"),
    "go.mod": ("go build ./...", "go test ./..."),
    "pom.xml": ("mvn package", "mvn test"),
    "build.gradle": ("gradle build", "gradle test"),
    "build.gradle.kts": ("gradle build", "gradle test"),
    "CMakeLists.txt": ("cmake -B build && cmake --build build", "ctest --test-dir build"),
    "mix.exs": ("mix compile", "mix test"),
    "Gemfile": ("bundle install",),
    "docker-compose.yml": ("docker compose up",),
    "compose.yaml": ("docker compose up",),
}


def _table(values: dict[str, Any], key: str) -> dict[str, Any]:
    inner = values.get(key)
    return inner if is_object(inner) else {}


def _json(text: str) -> dict[str, Any]:
    with suppress(ForeignDataError):
        values = parse_foreign_json(text)
        return values if is_object(values) else {}
    return {}


def _toml(text: str) -> dict[str, Any]:
    with suppress(ForeignDataError):
        return parse_foreign_toml(text)
    return {}
