"""A request as the offline model reads it: what is asked, what may be used, what has been done so far."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from odin_lsp.messages import Message, Text, ToolCall, ToolResult
from odin_lsp.models.base import Request
from odin_lsp.modes import MODES, Mode


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call before it has an id."""

    name: str
    arguments: Mapping[str, Any]


Move = tuple[Call, ...] | str
"""What the model does next: calls tools, or answers in Markdown."""


@dataclass(frozen=True, slots=True)
class Done:
    call: ToolCall
    result: ToolResult


@dataclass(frozen=True, slots=True)
class Turn:
    prompt: str
    context: str
    """What the editor sent along, such as the selection."""
    mode: Mode
    roots: tuple[str, ...]
    tools: frozenset[str]
    """Names that may be called now."""
    steps: int
    done: tuple[Done, ...]

    def offered(self, calls: Iterable[Call]) -> tuple[Call, ...]:
        """Those of `calls` that may be made now; searches go through every root."""
        return tuple(each for call in calls if call.name in self.tools for each in self._through_every_root(call))

    def results(self, *names: str) -> tuple[Done, ...]:
        return tuple(done for done in self.done if done.call.name in names)

    def failures(self) -> tuple[Done, ...]:
        return tuple(done for done in self.done if done.result.failed)

    def shown(self, path: str) -> str:
        """`path` as people read it: relative to its root, which is named only if there are several."""
        for root in self.roots:
            if path.startswith(root + "/"):
                inside = path[len(root) + 1 :]
                return inside if len(self.roots) == 1 else f"{root.rpartition('/')[2]}/{inside}"
        return path

    def inside(self, text: str) -> str:
        """`text` with absolute paths made relative to their root."""
        for root in self.roots:
            text = text.replace(root + "/", "")
        return text

    def _through_every_root(self, call: Call) -> tuple[Call, ...]:
        if len(self.roots) < 2 or call.name not in ("Grep", "Glob"):
            return (call,)
        return tuple(Call(call.name, {**call.arguments, "path": root}) for root in self.roots)


def read_turn(request: Request) -> Turn:
    # Later blocks hold the workspace's own instructions, which could claim anything.
    system = "".join(request.system[:1]).split("\n")
    start, prompt = _last_prompt(request)
    since = request.messages[start + 1 :]
    return Turn(
        prompt=prompt,
        context="\n".join(_CONTEXT.findall(request.messages[start].text)) if prompt else "",
        mode=_mode(request.messages[: start + 1]),
        roots=tuple(line.removeprefix(_ROOT).rstrip("/ ") for line in system if line.startswith(_ROOT)),
        tools=frozenset(tool.name for tool in request.tools) if request.may_call else frozenset(),
        steps=sum(1 for message in since if message.calls),
        done=tuple(_done(since)),
    )


_ROOT = "Workspace: "
_CONTEXT = re.compile(r"<context\b.*?</context>", re.DOTALL)
_ASIDE = re.compile(r"<(context|reminder)\b.*?</\1>", re.DOTALL)


def _last_prompt(request: Request) -> tuple[int, str]:
    for index in range(len(request.messages) - 1, -1, -1):
        message = request.messages[index]
        if message.role == "assistant" or message.results or _asks_for_the_end(request, index):
            continue
        for part in message.parts:
            if isinstance(part, Text) and (prompt := _ASIDE.sub("", part.text).strip()):
                return index, prompt
    return -1, ""


def _asks_for_the_end(request: Request, index: int) -> bool:
    """These are the planner's words, not the user's: at a limit it wants the answer so far."""
    last = index == len(request.messages) - 1
    return last and not request.may_call and index > 0 and bool(request.messages[index - 1].results)


def _mode(messages: tuple[Message, ...]) -> Mode:
    """As Odin last said it before the user's words, which come last in their message and could claim anything."""
    parts = (part for message in messages if message.role == "user" for part in message.parts[:-1])
    told = [part.text.split("\n") for part in parts if isinstance(part, Text) and part.text.startswith("<reminder>")]
    for lines in reversed(told):
        for mode in MODES.values():
            if f"Mode: {mode}" in lines:
                return mode
    return "ask_mode"


def _done(messages: tuple[Message, ...]) -> Iterator[Done]:
    results = {result.call_id: result for message in messages for result in message.results}
    for message in messages:
        for call in message.calls:
            if result := results.get(call.id):
                yield Done(call, result)
