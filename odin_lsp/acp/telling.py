"""What happens in a turn, as `session/update` tells it; the same for what happens now and for what is replayed."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odin_lsp.acp.hunks import ShownHunk, shown
from odin_lsp.display import shown_line
from odin_lsp.events import (
    MAIN,
    BackgroundFinished,
    Compacted,
    EventRecord,
    MessageFinished,
    Notice,
    ReviewClosed,
    ReviewOpened,
    SessionRenamed,
    StreamRolledBack,
    TextStreamed,
    ThinkingStreamed,
    TodosChanged,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    UsageChanged,
    UserSpoke,
)
from odin_lsp.ports import Receipt
from odin_lsp.records import Outcome, Todo, Usage
from odin_lsp.workspace.uris import path_of

Update = Mapping[str, Any]
KINDS: Mapping[str, str] = {
    **dict.fromkeys(("Read",), "read"),
    **dict.fromkeys(("Glob", "Grep", "LS", "Lookup", "FindTool", "ListMcpResources", "WebSearch"), "search"),
    **dict.fromkeys(("EditTool", "MultiEditTool", "WriteFile", "NotebookEdit", "ReplaceInFiles"), "edit"),
    **dict.fromkeys(("Refactor", "InitTool"), "edit"),
    **dict.fromkeys(("ExecuteCommand", "CommandStatus"), "execute"),
    **dict.fromkeys(("AgentTool", "ContextSummarizer", "TodoWrite"), "think"),
    "DeleteFile": "delete",
    "MoveFile": "move",
    **dict.fromkeys(("WebFetch", "ReadMcpResource"), "fetch"),
}
"""Of Odin's own tools; all others are `other`."""
STATUS = {"success": "completed", "error": "failed", "cancelled": "failed"}
TAIL = 4000
"""Characters of what a command has printed so far; each update has all of them."""
PACE = 1.0
"""Seconds between two such updates."""
AGAIN = "\n\n(The model starts this answer again.)\n\n"
OF_HELPERS = ToolStarted | ToolProgress | ToolFinished | Notice | ReviewOpened | ReviewClosed
"""What is told of helpers: what they do. What they say is for the model."""


@dataclass(slots=True)
class Telling:
    root: Path
    spent: Callable[[], float] = lambda: 0.0
    """Dollars of the turns that have ended."""
    clock: Callable[[], float] = time.monotonic
    hunks: dict[str, ShownHunk] = field(default_factory=dict[str, ShownHunk])
    """Those in review, by id."""
    _said: str = ""
    """What was streamed since the last message ended."""
    _thought: bool = False
    _running: dict[str, str] = field(default_factory=dict[str, str])
    """Calls that have begun, with their titles."""
    _commands: set[str] = field(default_factory=set[str])
    """Those of them that run commands: their title is the command."""
    _printed: dict[str, str] = field(default_factory=dict[str, str])
    _told_at: float = float("-inf")
    """When the last output was told of."""

    @property
    def call_under_way(self) -> tuple[str, str] | None:
        """The call that a question belongs to, if only one can be meant, and its title."""
        return next(iter(self._running.items())) if len(self._running) == 1 else None

    def replayed(self, record: EventRecord) -> Iterator[Update]:
        """What the user said, too: a client that loads a session does not know it."""
        match record.event:
            case TurnStarted(text=text) | UserSpoke(text=text) if text:
                yield _words("user_message_chunk", text)
            case TurnFinished(outcome) if outcome.reason == "failed" and outcome.detail:
                yield _words("agent_message_chunk", outcome.detail)
            case _:
                pass
        yield from self.told(record)

    def told(self, record: EventRecord) -> Iterator[Update]:
        if record.agent_id != MAIN and not isinstance(record.event, OF_HELPERS):
            return
        match record.event:
            case TurnStarted():
                self._forget()
                self._running.clear()
                self._commands.clear()
                self._printed.clear()
            case TextStreamed(text):
                self._said += text
                yield _words("agent_message_chunk", text)
            case ThinkingStreamed(text):
                self._thought = True
                yield _words("agent_thought_chunk", text)
            case StreamRolledBack() if self._said:
                self._forget()
                yield _words("agent_message_chunk", AGAIN)
            case MessageFinished(text=text, thinking=thinking):
                if thinking and not self._thought:
                    yield _words("agent_thought_chunk", thinking)
                if text and not self._said:
                    yield _words("agent_message_chunk", text)
                self._forget()
            case ToolStarted():
                yield self._started(record.event)
            case ToolProgress(call_id, text):
                yield from self._progress(call_id, text)
            case ToolFinished():
                yield from self._finished(record.event)
            case ReviewOpened(proposal):
                for it in shown(proposal):
                    self.hunks[it.hunk.id] = it
                    yield {"sessionUpdate": "tool_call", **it.call}
            case ReviewClosed(receipts=receipts):
                for receipt in receipts:
                    yield from self._decided(receipt)
            case TodosChanged(todos):
                yield plan(todos)
            case UsageChanged(usage) if usage.context_limit:
                yield _usage(usage, self.spent() + usage.cost_usd)
            case Notice(level, message):
                kind = "agent_thought_chunk" if level == "info" else "agent_message_chunk"
                yield _words(kind, f"\n\n{level}: {message}\n\n")
            case Compacted("succeeded", before, after):
                yield _words("agent_thought_chunk", f"Compacted the session: {before:,} → {after:,} tokens.\n\n")
            case BackgroundFinished(command=command, message=message):
                yield _words("agent_thought_chunk", f"In the background: {command}: {message}\n\n")
            case SessionRenamed(title):
                yield {"sessionUpdate": "session_info_update", "title": title}
            case TurnFinished(outcome):
                self._forget()
                yield from _ended(outcome)
            case _:
                pass

    def _forget(self) -> None:
        self._said, self._thought = "", False

    def _started(self, event: ToolStarted) -> Update:
        """Of a command the title is the command, for some clients show nothing else of a call that they ask about.
        What the model says of it is content."""
        kind = KINDS.get(event.name, "other")
        command = event.arguments.get("command") if kind == "execute" else None
        title = command if isinstance(command, str) and command else event.description
        self._running[event.call_id] = title
        update: dict[str, Any] = {
            "sessionUpdate": "tool_call",
            "toolCallId": event.call_id,
            "title": title,
            "kind": kind,
            "status": "in_progress",
            "rawInput": dict(event.arguments),
            "locations": list(self._locations(event.arguments)),
        }
        if title is command:
            self._commands.add(event.call_id)
            said = event.arguments.get("description")
            texts = (*([title] if shown_line(title) != title else []), *([said] if isinstance(said, str) else []))
            update["content"] = [text_content(it) for it in texts if it]
        return update

    def _progress(self, call_id: str, text: str) -> Iterator[Update]:
        """Not too often: what is told takes the place of what was told before. All of it comes with the end."""
        printed = self._printed[call_id] = (self._printed.get(call_id, "") + text)[-TAIL:]
        if call_id in self._running and self.clock() - self._told_at >= PACE:
            self._told_at = self.clock()
            yield {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "content": [text_content(printed)]}

    def _finished(self, event: ToolFinished) -> Iterator[Update]:
        is_known = self._running.pop(event.call_id, None) is not None
        self._printed.pop(event.call_id, None)
        is_command = event.call_id in self._commands
        self._commands.discard(event.call_id)
        content = event.output or (event.description if event.status != "success" or is_command else "")
        update: dict[str, Any] = {
            "sessionUpdate": "tool_call_update" if is_known else "tool_call",
            "toolCallId": event.call_id,
            **({} if is_command else {"title": event.description}),
            "status": STATUS[event.status],
            "locations": [{"path": str(self.root / it)} for it in event.files],
        }
        if not is_known:
            update["kind"] = KINDS.get(event.name, "other")
        if content:
            update["content"] = [text_content(content)]
        yield update

    def _decided(self, receipt: Receipt) -> Iterator[Update]:
        if (hunk := self.hunks.pop(receipt.hunk_id, None)) is not None:
            yield {"sessionUpdate": "tool_call_update", **hunk.decided(receipt)}

    def _locations(self, arguments: Mapping[str, Any]) -> Iterator[Update]:
        name, line = arguments.get("file_path") or arguments.get("path"), arguments.get("offset")
        if isinstance(name, str):
            yield {"path": str(self.root / name)} | ({"line": line} if isinstance(line, int) else {})


def plan(todos: tuple[Todo, ...]) -> Update:
    entries = [{"content": it.content, "priority": "medium", "status": it.status} for it in todos]
    return {"sessionUpdate": "plan", "entries": entries}


def text_content(text: str) -> Update:
    return {"type": "content", "content": {"type": "text", "text": text}}


def _words(kind: str, text: str) -> Update:
    return {"sessionUpdate": kind, "content": {"type": "text", "text": text}}


def _usage(usage: Usage, cost: float) -> Update:
    return {
        "sessionUpdate": "usage_update",
        "used": usage.context_tokens,
        "size": usage.context_limit,
        "cost": {"amount": cost, "currency": "USD"},
    }


def _ended(outcome: Outcome) -> Iterator[Update]:
    """What Odin has done itself is its answer; why it has ended early, unless that is what the request is answered."""
    if outcome.answer and not outcome.steps:
        yield _words("agent_message_chunk", outcome.answer)
    if outcome.detail and outcome.reason not in ("end_turn", "failed"):
        yield _words("agent_message_chunk", f"\n\n({outcome.reason.replace('_', ' ')}: {outcome.detail})")
    if outcome.plan and (path := path_of(outcome.plan)):
        yield _words("agent_message_chunk", f"\n\nThe plan is in [{path.name}]({outcome.plan}).")
