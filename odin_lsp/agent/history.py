"""The history of a conversation: valid before each request, and how much room it takes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from odin_lsp.events import Todo
from odin_lsp.messages import Image, Message, Part, Text, Thinking, ToolCall, ToolResult, user

CHARS_PER_TOKEN = 3.5
IMAGE_TOKENS = 1600
SHORT_RESULT = 400
LOST_BEGINNING = "(The beginning of this conversation is lost.)"
UNKNOWN_OUTCOME = "The outcome of this call is unknown: the turn was interrupted before it was recorded."


class Conversation(Protocol):
    """What a planner needs of one."""

    messages: list[Message]
    todos: list[Todo]

    def append(self, message: Message) -> None: ...

    def replace(self, messages: list[Message]) -> None:
        """A shorter history."""
        ...


def estimate(messages: Sequence[Message]) -> int:
    """Tokens, roughly and without a tokenizer."""
    return sum(_tokens(part) for message in messages for part in message.parts)


def is_prompt(message: Message) -> bool:
    """The user spoke: a turn starts here."""
    return message.role == "user" and not message.results


def repair(messages: Sequence[Message]) -> list[Message]:
    """The same history with exactly one result for each call, right after it, and nothing empty; the user begins."""
    repaired: list[Message] = []
    seen: set[str] = set()
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
    if repaired and repaired[0].role != "user":
        repaired.insert(0, user(LOST_BEGINNING))
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


def shortened(message: Message) -> Message:
    """Without thinking, and with no more than the beginning of each result."""
    return replace(message, parts=tuple(_short(part) for part in message.parts if not isinstance(part, Thinking)))


def _short(part: Part) -> Part:
    if not isinstance(part, ToolResult) or len(part.content) <= SHORT_RESULT:
        return part
    left_out = len(part.content) - SHORT_RESULT
    return replace(
        part, content=f"{part.content[:SHORT_RESULT]}\n({left_out:,} characters of this old result left out)"
    )


def _tokens(part: Part) -> int:
    match part:
        case Text() | Thinking():
            size = len(part.text)
        case ToolResult():
            size = len(part.content)
        case ToolCall():
            size = len(str(part.arguments)) + len(part.name)
        case Image():
            return IMAGE_TOKENS
    return int(size / CHARS_PER_TOKEN) + 4
