"""Notices when a model repeats itself: the same call with the same result."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from odin_lsp.messages import ToolCall, ToolResult

WARN_AT = 3
ASK_EVERY = 5
MAX_SHOWN = 200
WARNING = (
    "You have now called {tool} with {arguments} {count} times, always with the same result."
    " Do something else, or answer with what you have."
)


@dataclass(frozen=True, slots=True)
class Repetition:
    """So often a call has had the same result."""

    tool: str
    count: int
    arguments: str = ""

    @property
    def warning(self) -> str:
        """For the model; empty: there is no need."""
        told = WARNING.format(tool=self.tool, arguments=self.arguments, count=self.count)
        return told if self.count >= WARN_AT else ""

    @property
    def needs_the_user(self) -> bool:
        return self.count % ASK_EVERY == 0


class LoopGuard:
    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def note(self, calls: Sequence[ToolCall], results: Mapping[str, ToolResult]) -> Repetition:
        """Of a step's calls, the one that has been repeated most."""
        return max((self._repetition(it, results[it.id]) for it in calls), key=lambda it: it.count)

    def _repetition(self, call: ToolCall, result: ToolResult) -> Repetition:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        shown = arguments if len(arguments) <= MAX_SHOWN else f"{arguments[:MAX_SHOWN]}…"
        return Repetition(call.name, self._count(call, result), shown)

    def _count(self, call: ToolCall, result: ToolResult) -> int:
        key = json.dumps([call.name, call.arguments, result.content], sort_keys=True)
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        self._seen[digest] += 1
        return self._seen[digest]
