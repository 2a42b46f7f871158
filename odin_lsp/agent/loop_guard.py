"""Notices when a model repeats itself: the same call with the same result."""

import hashlib
import json
from collections import Counter

from odin_lsp.messages import ToolCall, ToolResult

WARN_AT = 3
ASK_EVERY = 5
WARNING = (
    "You have now made this call {count} times with the same result. Do something else, or answer with what you have."
)


class LoopGuard:
    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def count(self, call: ToolCall, result: ToolResult) -> int:
        """How often this call has had this result."""
        key = json.dumps([call.name, call.arguments, result.content], sort_keys=True)
        digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        self._seen[digest] += 1
        return self._seen[digest]
