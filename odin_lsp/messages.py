"""The conversation, in parts that no provider owns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from odin_lsp.values import Value

Role = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class Text(Value):
    text: str
    signature: str | None = None
    """What the provider named in the message's `origin` wants back unchanged."""
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Image(Value):
    media_type: str
    data: str
    """Base64."""
    name: str = ""
    """What people call it."""
    width: int = 0
    height: int = 0
    """Pixels; 0: not known."""
    kind: Literal["image"] = "image"

    def __str__(self) -> str:
        """In words, where the picture itself cannot be."""
        size = f", {self.width} × {self.height}" if self.width else ""
        return f"image {self.name or self.media_type}{size}"


@dataclass(frozen=True, slots=True)
class Document(Value):
    """A PDF, for providers that read it themselves."""

    data: str
    """Base64."""
    name: str = ""
    pages: int = 0
    """0: not known."""
    media_type: Literal["application/pdf"] = "application/pdf"
    kind: Literal["document"] = "document"

    def __str__(self) -> str:
        return f"document {self.name or self.media_type}"


Attachment = Image | Document


@dataclass(frozen=True, slots=True)
class Thinking(Value):
    """A model's thinking: the text for people, the rest opaque and only for the provider that made it."""

    text: str
    opaque: Mapping[str, Any] = field(default_factory=dict[str, Any])
    kind: Literal["thinking"] = "thinking"


@dataclass(frozen=True, slots=True)
class ToolCall(Value):
    id: str
    name: str
    arguments: Mapping[str, Any]
    problem: str | None = None
    """Why the arguments that the model sent could not be read; they are empty then."""
    signature: str | None = None
    kind: Literal["toolCall"] = "toolCall"


@dataclass(frozen=True, slots=True)
class ToolResult(Value):
    """Carries the call's id and the tool's name: one provider wants the one, another the other."""

    call_id: str
    name: str
    content: str
    failed: bool = False
    attached: tuple[Attachment, ...] = ()
    """What the model is shown beside the text."""
    kind: Literal["toolResult"] = "toolResult"


Part = Text | Image | Document | Thinking | ToolCall | ToolResult


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Message(Value):
    role: Role
    parts: tuple[Part, ...]
    origin: str | None = None
    """The `provider/model` that wrote it: opaque parts go back to no other."""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolResult))


def user(*texts: str) -> Message:
    return Message("user", tuple(Text(text) for text in texts if text))
