"""Questions about the project as a whole: what it is, how it is run, tested or installed."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Literal

from odin_lsp.models.offline import answers
from odin_lsp.models.offline.evidence import gather, section
from odin_lsp.models.offline.terms import Terms
from odin_lsp.models.offline.turn import Call, Move, Turn

Topic = Literal["about", "run", "test", "install"]


def find_topic(prompt: str, terms: Terms) -> Topic | None:
    if terms.names or terms.files:
        return None
    if how := _HOW.search(prompt):
        asked = how[0].lower()
        if "test" in asked:
            return "test"
        return "install" if re.search("install|build|set", asked) else "run"
    return "about" if _ABOUT.search(prompt) and len(terms.words) <= 2 else None


def look(turn: Turn, topic: Topic) -> Move:
    globs = (Call("Glob", {"pattern": pattern}) for pattern in _FILES)
    if not turn.done and (calls := turn.offered(globs)):
        return calls
    evidence = gather(turn.done)
    files = sorted(evidence.files, key=lambda path: (path.count("/"), _standing(path), path))[:_READ]
    reads = (Call("Read", {"file_path": path, "limit": _LIMIT}) for path in files)
    if not turn.results("Read") and (calls := turn.offered(reads)):
        return calls
    quotes = [
        answers.Quote(path, number, section(lines, number))
        for path in files
        if (lines := evidence.lines.get(path)) and (number := _landmark(lines, topic))
    ]
    return answers.overview(turn, quotes)


_FILES = ("README*", "pyproject.toml", "package.json", "Makefile", "Cargo.toml", "go.mod")
_READ = 4
_LIMIT = 250

_PROJECT = r"(?:project|repo\w*|app\w*|code ?base|workspace|package)"
_HOW = re.compile(
    r"\bhow\s+(?:do|can|should|would|to)\b(?:\s+(?:i|we|you|one))?"
    r"\s+(?:run|start|use|launch|test|build|install|set ?up)"
    rf"(?:\s+(?:it|(?:(?:the|this|all|its)\s+)?(?:(?:unit\s+)?tests?(?:\s+suite)?|code|server|{_PROJECT}|this)))?\s*[?.!]*$",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"\boverview\b|\breadme\b|\bgetting started\b"
    rf"|\b(?:what\s+(?:is|does)|about)\s+(?:this|the)\s+{_PROJECT}(?:\s+(?:do|about|for))?\s*[?.!]*$",
    re.IGNORECASE,
)

_LANDMARKS: Mapping[Topic, tuple[str, ...]] = {
    "about": (r"# ", r"\[(project|package)\]", r'\s*"name"', r"module ", r"\S"),
    "run": (r"#+ .*(usage|run|start|quick)", r"\[project\.scripts\]", r'\s*"scripts"', r"(run|start|serve)\w*:"),
    "test": (r"#+ .*(test|develop|contribut)", r"test\w*:", r'\s*"scripts"', r"\[tool\.pytest", r".*\btests?\b"),
    "install": (r"#+ .*(install|build|set ?up|start)", r"(install|build)\w*:", r"\[build-system\]", r'\s*"scripts"'),
}
"""By topic, what the line begins with that is worth quoting; the first that a file has."""


def _standing(path: str) -> int:
    name = PurePosixPath(path).name
    return next((rank for rank, pattern in enumerate(_FILES) if PurePosixPath(name).match(pattern)), len(_FILES))


def _landmark(lines: Mapping[int, str], topic: Topic) -> int | None:
    for pattern in _LANDMARKS[topic]:
        for number, text in lines.items():
            if re.match(pattern, text, re.IGNORECASE):
                return number
    return None
