"""A model that is a script: what it calls next follows from what it is sent, as with a strong model."""

import asyncio
import json
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.endpoint import Endpoint, answering

MODEL = "claude-sonnet-5-5"
CHARS_PER_TOKEN = 4
ENOUGH = '{"is_sufficient": true, "explanation": "", "suggested_line_ranges": []}'
FINDING = re.compile(r"\b[A-Z_]{4,} = \d+")
MAX_SUMMARY = 6_000


@dataclass(frozen=True)
class Call:
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Result:
    name: str
    """Of the tool."""
    text: str
    failed: bool


@dataclass(frozen=True)
class Seen:
    """What the model is sent."""

    request: Mapping[str, Any]

    @property
    def results(self) -> list[Result]:
        """Of the last calls, in their order."""
        blocks = [it for message in self.request["messages"] if message["role"] == "user" for it in message["content"]]
        by_id = {it["tool_use_id"]: it for it in blocks if it["type"] == "tool_result"}
        called = [it for it in self.request["messages"] if it["role"] == "assistant"][-1]["content"]
        found = [(it["name"], by_id[it["id"]]) for it in called if it["type"] == "tool_use"]
        return [Result(name, _text(it["content"]), it.get("is_error", False)) for name, it in found]

    @property
    def tools(self) -> frozenset[str]:
        return frozenset(it["name"] for it in self.request["tools"])

    def knows(self, fact: str) -> bool:
        """Whether it stands in the conversation, be it word for word in a result or in a summary."""
        return fact in _text(self.request["messages"])

    def place(self, root: Path) -> Path:
        """What to name files by: whoever is shown absolute paths names them so."""
        return root if any(str(root) in it.text for it in self.results) else Path()


@dataclass(frozen=True)
class Step:
    calls: Sequence[Call]
    """None end the turn."""
    text: str = ""


Script = Generator[Step, Seen, str]
"""Ends with the answer."""


@dataclass
class Player(Endpoint):
    """Plays the script to whoever asks the main model, and stands in for the small one."""

    files: list[Path] = field(default_factory=list[Path])
    script: Script | None = None
    small: int = 0
    """Questions to the small model."""
    called: int = 0

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = self.requests[-1]
        if request["model"] == MODEL:
            writer.write(self._played(request))
        else:
            self.requests.pop()
            self.small += 1
            writer.write(answering(_small(request)))
        await writer.drain()

    def _played(self, request: Mapping[str, Any]) -> bytes:
        assert self.script
        tokens = size(request) // CHARS_PER_TOKEN
        try:
            step = self.script.send(Seen(request)) if self.called else next(self.script)
        except StopIteration as end:
            return answering(end.value, tokens=tokens)
        first, self.called = self.called, self.called + len(step.calls)
        calls = [(f"toolu_{first + number}", it.name, it.arguments) for number, it in enumerate(step.calls)]
        return answering(step.text, calls, tokens)


def size(request: Mapping[str, Any]) -> int:
    """Bytes of what a model reads."""
    return len(json.dumps([request.get(it) for it in ("tools", "system", "messages")], ensure_ascii=False).encode())


def _small(request: Mapping[str, Any]) -> str:
    """It finds that what was seen is enough; of a conversation it keeps the names with numbers that it is given."""
    if "is_sufficient" in _text(request["system"]):
        return ENOUGH
    lines = [line.strip() for line in _text(request["messages"]).splitlines() if FINDING.search(line)]
    kept, left = list[str](), MAX_SUMMARY
    for line in dict.fromkeys(lines):
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return "\n".join(["Found so far:", *kept])


def _text(content: Any) -> str:
    """All that is said in it."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        parts: dict[str, Any] = content
        return "\n".join(_text(parts[key]) for key in ("text", "content") if key in parts)
    return "\n".join(map(_text, content)) if isinstance(content, list) else ""
