"""What a planner needs of a conversation, and how its history is made shorter."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Protocol

from odin_lsp.messages import Document, Image, Message, Part, Text, Thinking, ToolResult
from odin_lsp.records import Todo
from odin_lsp.sessions.history import History

SHORT_RESULT = 400
TAKEN_OUT = "({} was here, and was taken out to make room)"
GET_IT_AGAIN = "of this old result were taken out to make room; make the call again if you need them)"


class Conversation(Protocol):
    """What a planner needs of one."""

    history: History
    todos: list[Todo]
    findings: list[str]
    """What the model has noted for itself."""

    def append(self, message: Message) -> None: ...

    def replace(self, messages: list[Message]) -> None:
        """A shorter history."""
        ...

    def note_finding(self, text: str) -> None: ...

    def note_results(self, results: Iterable[ToolResult]) -> None:
        """What is known of the last calls while others wait for a review."""
        ...


def has_results(messages: Iterable[Message], calls: Collection[str]) -> bool:
    """Whether the model still has all that these calls have told it."""
    kept = {it.call_id for message in messages for it in message.results if not it.failed and not is_shortened(it)}
    return kept.issuperset(calls)


def is_prompt(message: Message) -> bool:
    """The user spoke: a turn starts here."""
    return message.role == "user" and not message.results


def shortened(message: Message) -> Message:
    """Without thinking, and with no more than the beginning of each result."""
    return replace(message, parts=tuple(short(part) for part in message.parts if not isinstance(part, Thinking)))


def is_shortened(result: ToolResult) -> bool:
    """The model does not have it any more."""
    return result.content.endswith(GET_IT_AGAIN)


def short(part: Part) -> Part:
    """Of a long result the beginning, and how to get the rest; in place of an image its name. What is short already
    stays as it is."""
    if isinstance(part, Image | Document):
        return Text(TAKEN_OUT.format(part))
    if not isinstance(part, ToolResult) or is_shortened(part):
        return part
    if len(part.content) <= SHORT_RESULT and not part.attached:
        return part
    left_out = len(part.content) - SHORT_RESULT
    what = [*([f"{left_out:,} more characters"] if left_out > 0 else []), *map(str, part.attached)]
    return replace(part, content=f"{part.content[:SHORT_RESULT]}\n({', '.join(what)} {GET_IT_AGAIN}", attached=())
