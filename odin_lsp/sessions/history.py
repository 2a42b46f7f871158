"""The history of a conversation: valid before each request, and how much room it takes.

What is known of it is kept as messages come, so that a step costs what is new and not what is old."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate

from odin_lsp.messages import Document, Image, Message, Part, Text, Thinking, ToolCall, ToolResult, user

CHARS_PER_TOKEN = 3.5
IMAGE_TOKENS = 1600
"""What providers make of a large image; of a smaller one less."""
PIXELS_PER_TOKEN = 750
PAGE_TOKENS = 2000
"""Of a PDF: its text, and its picture."""
LOST_BEGINNING = "(The beginning of this conversation is lost.)"
UNKNOWN_OUTCOME = "The outcome of this call is unknown: the turn was interrupted before it was recorded."


class History:
    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self.messages = list(messages)
        """As they came, since the last time that somebody wanted them valid."""
        self._totals = [0]
        """Tokens of the first so many messages, as far as they are valid. No call of these waits for its result."""
        self._call_ids: set[str] = set()
        """Of the same messages."""

    def append(self, message: Message) -> None:
        self.messages.append(message)

    def remove_last(self, count: int = 1) -> None:
        del self.messages[max(0, len(self.messages) - count) :]
        if len(self.messages) < self._known:
            self._look_anew()

    def replace(self, messages: Iterable[Message]) -> None:
        self.messages = list(messages)
        self._look_anew()

    def valid(self) -> list[Message]:
        """All of it, with exactly one result for each call, right after it, and nothing empty; the user begins."""
        known = self._known
        if len(self.messages) > known:
            new = _repaired(self.messages[known:], self._call_ids)
            if not known and new and new[0].role != "user":
                new.insert(0, user(LOST_BEGINNING))
            self.messages[known:] = new
            self._totals += list(accumulate((estimate((it,)) for it in new), initial=self._totals[-1]))[1:]
        return self.messages

    def tokens(self, since: int = 0) -> int:
        """Roughly, of the messages behind the first so many."""
        self.valid()
        return self._totals[-1] - self._totals[since]

    def distinct(self, message: Message) -> Message:
        """Models reuse ids; a result must belong to exactly one call."""
        self.valid()
        seen: set[str] = set()
        parts: list[Part] = []
        for part in message.parts:
            if isinstance(part, ToolCall):
                is_new = part.id not in self._call_ids and part.id not in seen
                part = part if is_new else replace(part, id=f"{part.id}-{uuid.uuid4().hex[:8]}")
                seen.add(part.id)
            parts.append(part)
        return replace(message, parts=tuple(parts))

    @property
    def _known(self) -> int:
        return len(self._totals) - 1

    def _look_anew(self) -> None:
        self._totals = [0]
        self._call_ids.clear()


def repair(messages: Iterable[Message]) -> list[Message]:
    """A history that is valid, made of one that may not be."""
    return History(messages).valid()


def estimate(messages: Sequence[Message]) -> int:
    """Tokens, roughly and without a tokenizer."""
    return sum(_tokens(part) for message in messages for part in message.parts)


def _repaired(messages: Sequence[Message], seen: set[str]) -> list[Message]:
    """What comes behind calls with these ids, none of which waits. Those of the new calls are added to them."""
    repaired: list[Message] = []
    waiting: dict[str, ToolCall] = {}
    for message in messages:
        parts = tuple(part for part in message.parts if _counts(part, waiting, seen))
        missing = tuple(_unknown(call) for call in waiting.values())
        if message.role == "user":
            parts = (*missing, *parts)
        elif missing:
            repaired.append(Message("user", missing))
        waiting = {part.id: part for part in parts if isinstance(part, ToolCall)}
        if parts:
            repaired.append(message if parts == message.parts else replace(message, parts=parts))
    if waiting:
        repaired.append(Message("user", tuple(_unknown(call) for call in waiting.values())))
    return repaired


def _counts(part: Part, waiting: dict[str, ToolCall], seen: set[str]) -> bool:
    """Whether the part stays. A result takes its call off the list of those that wait."""
    match part:
        case ToolResult():
            return waiting.pop(part.call_id, None) is not None
        case ToolCall():
            is_new = part.id not in seen
            seen.add(part.id)
            return is_new
        case Text():
            return bool(part.text.strip())
        case _:
            return True


def _unknown(call: ToolCall) -> ToolResult:
    return ToolResult(call.id, call.name, UNKNOWN_OUTCOME, failed=True)


def _tokens(part: Part) -> int:
    match part:
        case Text() | Thinking():
            size = len(part.text)
        case ToolResult():
            return int(len(part.content) / CHARS_PER_TOKEN) + 4 + sum(map(_tokens, part.attached))
        case ToolCall():
            size = len(str(part.arguments)) + len(part.name)
        case Image():
            return min(IMAGE_TOKENS, part.width * part.height // PIXELS_PER_TOKEN or IMAGE_TOKENS)
        case Document():
            return PAGE_TOKENS * max(1, part.pages)
    return int(size / CHARS_PER_TOKEN) + 4


def characters(message: Message) -> int:
    """Characters, roughly."""
    return sum(map(_characters, message.parts))


def _characters(part: Part) -> int:
    match part:
        case Text() | Thinking():
            return len(part.text)
        case ToolResult():
            return len(part.content) + sum(map(_characters, part.attached))
        case ToolCall():
            return len(str(part.arguments))
        case Image() | Document():
            return len(part.data)


def without_thinking(message: Message) -> Message:
    """What a model thought is of use within a turn only, and only to that model."""
    if not any(isinstance(part, Thinking) for part in message.parts):
        return message
    return Message(message.role, tuple(it for it in message.parts if not isinstance(it, Thinking)), message.origin)
