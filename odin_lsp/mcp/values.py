"""What MCP servers offer and answer, as plain values: whoever uses them does not import the SDK."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, Literal

from odin_lsp.messages import Image

Progress = Callable[[str], None]
"""Told how far a call has come."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool, as its server describes it."""

    name: str
    description: str
    schema: Mapping[str, Any]

    @property
    def text(self) -> str:
        """All that a model is told of it, in one form only."""
        told = {"description": self.description, "name": self.name, "schema": self.schema}
        return json.dumps(told, sort_keys=True, ensure_ascii=False, indent=1)

    def has_more_than(self, most: int) -> bool:
        """Characters, of which no more are counted than that takes."""
        told = chain((self.name, self.description), json.JSONEncoder(ensure_ascii=False).iterencode(self.schema))
        return any(size > most for size in accumulate(map(len, told)))

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    description: str
    is_required: bool


@dataclass(frozen=True, slots=True)
class PromptDefinition:
    name: str
    description: str
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Resource:
    uri: str
    """Of a template, the pattern of the addresses (RFC 6570)."""
    name: str
    description: str
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    text: str
    images: tuple[Image, ...] = ()
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """What a server wants to know of the person."""

    message: str
    properties: Mapping[str, Any]
    """By name, each with its schema: no more than a text, a number, yes or no, or a choice."""
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Visit:
    """An address that a server wants the person to open."""

    message: str
    url: str


FormAnswer = Mapping[str, str | int | float | bool | list[str] | None]
Asked = tuple[Literal["accept", "decline", "cancel"], FormAnswer]


@dataclass(frozen=True, slots=True)
class Host:
    """What a server may ask of Odin, and whom it tells that something has changed."""

    ask: Callable[[Form | Visit], Awaitable[Asked]]
    roots: Callable[[], Sequence[Path]]
    changed: Callable[[Literal["tools", "prompts", "resources"]], None]
