"""What strangers may write into any field of what front ends are sent, as JSON: they are not written in Python.

`python -m tests.support.hostile_wire` writes it anew. In it `@2` stands for the third of the texts."""

import json
import sys
from pathlib import Path
from typing import Any

from odin_lsp.events import MAIN, Event, EventRecord
from odin_lsp.frames import without_halves
from odin_lsp.ports import Question, Review
from odin_lsp.values import to_wire
from tests.support.hostile import TEXTS, all_made, members

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "support" / "hostile.json"
CHOICES = 6
LISTED = 3
ASKED = 24
"""As many, so that each kind of question comes with and without each of its parts."""


def values() -> dict[str, Any]:
    events = [
        EventRecord(1, "t", "s", agent, it)
        for agent, choices in {MAIN: CHOICES, "explore-1": 1}.items()
        for kind in members(Event)
        for it in all_made(kind, choices)
    ]
    return {
        "texts": TEXTS,
        "events": _short([to_wire(it) for it in events]),
        "questions": _short([to_wire(it) for it in all_made(Question, ASKED)]),
        "reviews": _short([to_wire(it) for it in all_made(Review, CHOICES)]),
        "answers": {name: _short([to_wire(it) for it in all_made(of, LISTED)]) for name, of in _answers().items()},
    }


def written() -> str:
    return without_halves(f"{_lines(values())}\n".encode()).decode()


def _lines(value: Any) -> str:
    if isinstance(value, dict):
        return "{\n" + ",\n".join(f"{json.dumps(name)}: {_lines(it)}" for name, it in value.items()) + "\n}"
    return "[\n" + ",\n".join(map(json.dumps, value)) + "\n]"


def _answers() -> dict[str, Any]:
    """What each command answers, as the docs of the protocol have it."""
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import generate
    finally:
        sys.path.remove(str(ROOT / "docs"))
    return {name: of for name, of in generate.RESULTS.items() if of}


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return f"@{TEXTS.index(value)}" if value in TEXTS else value
    if isinstance(value, dict):
        return {_short(name): _short(it) for name, it in value.items()}
    return [_short(it) for it in value] if isinstance(value, list) else value


if __name__ == "__main__":
    FILE.write_text(written(), encoding="ascii")
