"""What a session is called, in one line."""

from typing import Literal

NEW = "New Session"
MAX_TITLE = 80
MAX_WORDS = 60
"""Characters of the first message that stand for a title until there is one."""

TitledBy = Literal["nobody", "message", "model", "user"]


def cleaned(title: str, most: int = MAX_TITLE) -> str:
    """On one line, without what no editor could show, and not too long."""
    line = " ".join("".join(it if it.isprintable() else " " for it in title).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def titled_by(said: object, title: str) -> TitledBy:
    """As a log says; older ones do not."""
    known: dict[object, TitledBy] = {"message": "message", "model": "model", "user": "user"}
    return known.get(said, "nobody" if title == NEW else "user")


def from_message(text: str) -> str:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return cleaned(first, MAX_WORDS) or NEW


def from_model(answer: str) -> str | None:
    """What a small model made of it; `None` if that is no title."""
    lines = [line for line in answer.splitlines() if line.strip()]
    title = cleaned(lines[0].strip(" \t#*\"'`“”«».")) if len(lines) == 1 else ""
    return title if len(title) > 1 and not title.endswith("…") else None
