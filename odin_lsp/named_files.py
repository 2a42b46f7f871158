"""Which files of a folder a command line names: its scripts, and those in which programs look up what to do.

A file counts if any reading of the words leads to it: a shell's, or that of whatever takes them apart. One word too
many costs a question; one too few would let a file change unnoticed. What only the running program could tell, such as
a name that it computes, is not known here."""

import hashlib
import os
import re
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from glob import iglob
from itertools import islice
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.reading import is_regular, start_of

MAX_HASHED = 4 * 1024 * 1024
"""Bytes of a named file; of a longer one the size and the times count, too."""
MAX_PATH = 4096
MAX_LOOKS = 30_000
"""Questions to the system, for all command lines that one file brings: some 40 ms."""
MAX_MATCHES = 100
"""Files that patterns such as `hooks/*.sh` may mean."""
MAX_PATTERNS = 2
"""Folders and files of a path that may be patterns."""
JUST_CHANGED = 50_000_000
"""Nanoseconds in which a file may change again and keep its times."""
TOO_MANY = "it names more files and folders than Odin can follow; put it into a script, and name that"

_PROJECT = re.compile(r"\$\{?(?:CLAUDE_PROJECT_DIR|ODIN_PROJECT_DIR|workspaceFolder|PWD)\}?")
_HOME = re.compile(r"\$\{?(?:env:)?HOME\}?|(?<![\w/.~-])~(?=/)")
_BETWEEN_PATHS = re.compile(r"[\s;|&()<>\"'`=,:{}$\\]+")
_BETWEEN_NAMES = re.compile(r"[^\w./-]+")
_VARIABLE = re.compile(r"\$\{?\w+[^}/\s]*\}?")
_QUOTES = re.compile(r"[\\\"']")
_GLOB = re.compile(r"[*?\[]")

_PLAIN = re.compile(r"""(?:[\w \t\n./:@%+,~|&;<>-]|"[\w ./:@%+,~-]*"|'[\w ./:@%+,~-]*')*""")
"""Words and quoted words, and operators between them: nothing in it gives a command another meaning."""
_NOT_PLAIN = re.compile(r"<>|\balias\b")
_OUTPUT = re.compile(r"""(?:&|\d)?>{1,2}[|&]?[ \t]*(?:"[^"\n]*"|'[^'\n]*'|[^\s;|&<>"']+)""")
"""Where a shell writes to: what a command prints into a file is not what it is."""
_ONLY_WRITES = re.compile(r"(?:^|(?<=[;&|\n]))[ \t]*+(?:chmod|mkdir|rm|rmdir|tee|test|touch)[ \t][^;&|<\n]*")
"""Commands that run nothing, and print nothing of the files that they name."""

_ENDINGS = (
    ".py",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".mts",
    ".cts",
    ".tsx",
    ".jsx",
    ".sh",
    ".rb",
    ".pl",
    ".pm",
    ".php",
    ".lua",
)
"""Which interpreters put behind a name."""
_OF_FOLDERS = ("__main__.py", "__init__.py", "package.json", *(f"index{it}" for it in _ENDINGS[1:9]))
"""What an interpreter runs if it is told a folder."""
_INTERPRETERS = re.compile(
    r"(?:python|pypy|node|nodejs|bun|deno|tsx|ts-node|electron|uv|poetry|pdm|hatch|pipenv)[\d.]*"
)
_RUNNERS = frozenset(
    {"npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx", "uv", "uvx", "poetry", "pdm", "hatch", "pipenv"}
)
"""Programs that run those which the folder has installed for itself."""
_INSTALLED = ("node_modules/.bin", ".venv/bin", "venv/bin", "env/bin", ".env/bin")
_NPM = ("package.json", ".npmrc", ".yarnrc.yml", ".yarnrc", ".pnpmfile.cjs")
_COMPOSE = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml", "Dockerfile")
_GRADLE = (
    *(f"{name}.gradle{it}" for name in ("build", "settings", "init") for it in ("", ".kts")),
    "gradle.properties",
    *(f"gradle/wrapper/gradle-wrapper.{it}" for it in ("jar", "properties")),
)
_MAVEN = (
    "pom.xml",
    *(f".mvn/{it}" for it in ("extensions.xml", "jvm.config", "maven.config")),
    *(f".mvn/wrapper/maven-wrapper.{it}" for it in ("jar", "properties")),
)
READ_UNNAMED: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("make", "gmake"), ("GNUmakefile", "makefile", "Makefile")),
    **dict.fromkeys(("npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx"), _NPM),
    **dict.fromkeys(("docker", "docker-compose", "podman", "podman-compose"), _COMPOSE),
    **dict.fromkeys(("gradle", "gradlew"), _GRADLE),
    **dict.fromkeys(("mvn", "mvnw"), _MAVEN),
    **dict.fromkeys(("uv", "uvx", "poetry", "pdm", "hatch"), ("pyproject.toml", "uv.toml")),
    **dict.fromkeys(("inv", "invoke"), ("tasks.py",)),
    **dict.fromkeys(("mise", "rtx"), ("mise.toml", ".mise.toml")),
    "cargo": ("Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config"),
    "bundle": ("Gemfile", ".bundle/config"),
    "composer": ("composer.json",),
    "deno": ("deno.json", "deno.jsonc"),
    "direnv": (".envrc",),
    "fab": ("fabfile.py",),
    "just": ("justfile", "Justfile", ".justfile"),
    "lefthook": ("lefthook.yml", ".lefthook.yml"),
    "mix": ("mix.exs",),
    "nox": ("noxfile.py",),
    "pipenv": ("Pipfile",),
    "pre-commit": (".pre-commit-config.yaml",),
    "rake": ("Rakefile", "rakefile", "Rakefile.rb"),
    "scons": ("SConstruct",),
    "task": ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml"),
    "tox": ("tox.ini", "tox.toml", "pyproject.toml", "setup.cfg"),
}
"""Where programs look up what they are told to do: `make check` does what the Makefile says."""


class TooManyNames(ToolError):
    """Nobody could say what such a command line runs."""


class LookupBudget:
    """Counts how often the words of command lines are looked for. One for each file that brings such lines."""

    def __init__(self, looks: int = MAX_LOOKS) -> None:
        self._left = looks

    def spend(self, looks: int) -> None:
        """Raises `TooManyNames`, and takes nothing, if there are not so many left."""
        if looks > self._left:
            raise TooManyNames(TOO_MANY)
        self._left -= looks


def named_files(
    root: Path, *command_lines: str, cwd: str = "", runs_installed: bool = False, budget: LookupBudget | None = None
) -> Mapping[str, str]:
    """Return the digests of the files of the folder that these words name, by their paths below it.

    What a shell only writes to does not count. `runs_installed`: programs are looked up among those that the folder has
    installed for itself, too. Raises `TooManyNames`."""
    budget = budget or LookupBudget()
    folder = os.path.realpath(root)
    lines = [_expanded(line, folder) for line in command_lines]
    words = list(dict.fromkeys(word for line in lines for word in _readings(_without_outputs(line)) if _is_name(word)))
    programs = {word.rpartition("/")[2] for word in words}
    entries = _OF_FOLDERS if any(_INTERPRETERS.fullmatch(it) for it in programs) else ()
    start = os.path.normpath(os.path.join(folder, _expanded(cwd, folder)))  # noqa: PTH118
    unnamed = [it for program in programs for it in READ_UNNAMED.get(program, ())]
    places: dict[str, None] = {}
    bases = list(dict.fromkeys((folder, start)))
    for base in bases:  # it grows: a word may be a folder in one that another word names
        budget.spend(len(words))
        for path in (path for word in words for path in _meant(base, word)):
            is_near = base in (folder, start) or f"{folder}/".startswith(f"{path}/") or _is_inside(folder, path)
            if not os.path.isdir(path):  # noqa: PTH112 - it raises nothing, and this is asked often
                places |= dict.fromkeys((path, *(f"{path}{it}" for it in _ENDINGS)))
            elif is_near:
                bases += [path] if path not in bases else []
                places |= dict.fromkeys(f"{path}/{it}" for it in entries)
        places |= dict.fromkeys(f"{base}/{it}" for it in unnamed)
    if runs_installed or programs & _RUNNERS:
        names = [word for word in words if "/" not in word]
        places |= dict.fromkeys(f"{base}/{it}/{name}" for base in bases for it in _INSTALLED for name in names)
    budget.spend(len(places))
    found = {path: digest for path in places if (digest := _digest(path)) and _is_inside(folder, path)}
    return {os.path.relpath(path, folder): digest for path, digest in sorted(found.items())}


def _expanded(line: str, folder: str) -> str:
    home = os.path.expanduser("~")  # noqa: PTH111 - without a home it is left as it is
    return _HOME.sub(lambda _: home, _PROJECT.sub(lambda _: folder, line))


def _without_outputs(line: str) -> str:
    """Only where all of it is surely understood: in anything else, a word that looks like an output may be read."""
    if not _PLAIN.fullmatch(line) or _NOT_PLAIN.search(line):
        return line
    return _ONLY_WRITES.sub(" ", _OUTPUT.sub(" ", line))


def _readings(line: str) -> Iterator[str]:
    try:
        parts = shlex.split(line)
    except ValueError:  # a quote that is not closed
        parts = line.split()
    said = (line, _VARIABLE.sub("", line), _QUOTES.sub("", line))
    split = [*_BETWEEN_NAMES.split(line), *(it for text in said for it in _BETWEEN_PATHS.split(text))]
    for word in dict.fromkeys((line, *parts, *split)):
        yield word
        if word.startswith("/"):  # what is before it may be a folder: "$(git rev-parse --show-toplevel)/x.sh"
            yield word.lstrip("/")
        if word.startswith("-"):  # `-Ilib`, `-r./x.js`
            yield word.lstrip("-")
            yield word[2:]
        if "." in word.strip(".") and "/" not in word:  # a module
            yield word.replace(".", "/")
        if "::" in word:
            yield word.replace("::", "/")


def _is_name(word: str) -> bool:
    try:
        return bool(word) and len(os.fsencode(word)) <= MAX_PATH and "\0" not in word
    except UnicodeEncodeError:
        return False


def _meant(base: str, word: str) -> list[str]:
    """The paths that are meant: as it is written, as links lead, and what matches if it is a pattern."""
    place = os.path.join(base, word)  # noqa: PTH118
    paths = [os.path.normpath(place), *([os.path.realpath(place)] if ".." in word else [])]
    if _GLOB.search(word):
        if sum(_GLOB.search(part) is not None for part in word.split("/")) > MAX_PATTERNS:
            raise TooManyNames(TOO_MANY)
        paths += [it for it in islice(iglob(place), MAX_MATCHES + 1) if os.path.isfile(it)]  # noqa: PTH113, PTH207
        if len(paths) > MAX_MATCHES:
            raise TooManyNames(TOO_MANY)
    return paths


def _is_inside(folder: str, path: str) -> bool:
    """As it is written, or as links lead."""
    return any(f"{it}/".startswith(f"{folder}/") for it in (path, os.path.realpath(path)))


def _digest(path: str) -> str:
    """Of a regular file; empty for what is none, or cannot be read."""
    try:
        status = os.stat(path)  # noqa: PTH116 - most of what is asked for is not there
        if not is_regular(status):
            return ""
        stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        is_settled = time.time_ns() - status.st_ctime_ns > JUST_CHANGED
        return (_digest_of if is_settled else _digest_of.__wrapped__)(path, stamp)
    except (OSError, ValueError):
        return ""


@lru_cache(maxsize=256)
def _digest_of(path: str, stamp: Sequence[int]) -> str:
    """Kept by the stamp: a change time cannot be set back, so what has the same one has the same content."""
    content = start_of(path, MAX_HASHED + 1) or b""
    digest = hashlib.sha256(content[:MAX_HASHED])
    if len(content) > MAX_HASHED:
        digest.update(repr(stamp).encode())
    return digest.hexdigest()
