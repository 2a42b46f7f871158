"""Points of a turn where others may look, object or add."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

HookEvent = Literal["PreToolUse", "PostToolUse", "PostToolUseFailure"]


@dataclass(frozen=True, slots=True)
class HookDecision:
    allow: bool = True
    message: str = ""
    """For the model, when it was not allowed."""
    go_on: bool = True
    """False ends the turn after this step."""
    system_message: str = ""
    """For the model, in any case."""
    arguments: Mapping[str, Any] | None = None
    """Other arguments to run with; the gate judges these."""


Hook = Callable[[HookEvent, Mapping[str, Any]], Awaitable[HookDecision]]


class Hooks:
    def __init__(self, hooks: Sequence[Hook] = ()) -> None:
        self._hooks = hooks

    def __bool__(self) -> bool:
        return bool(self._hooks)

    async def fire(self, event: HookEvent, call: Mapping[str, Any]) -> HookDecision:
        """Ask all hooks in order; the first that does not allow ends it."""
        messages: list[str] = []
        arguments: Mapping[str, Any] | None = None
        go_on = True
        for hook in self._hooks:
            decision = await hook(event, call)
            go_on = go_on and decision.go_on
            messages += [decision.system_message] if decision.system_message else []
            if decision.arguments is not None:
                arguments = decision.arguments
                call = {**call, "arguments": arguments}
            if not decision.allow:
                return HookDecision(False, decision.message, go_on, "\n".join(messages), arguments)
        return HookDecision(True, "", go_on, "\n".join(messages), arguments)
