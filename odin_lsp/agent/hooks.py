"""Points of a turn where others may look, object or add."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from odin_lsp.errors import PermissionDenied, RequestError
from odin_lsp.extensions.hook_events import HookEvent
from odin_lsp.permissions.gate import Want
from odin_lsp.permissions.rules import COMMANDS

OF_CALLS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure"})
"""Of the others only hooks hear that want to (`hears_all`): most expect a call."""
GUARDS = frozenset({"PreToolUse", "UserPromptSubmit"})
"""What waits for a yes: here a hook that fails says no."""


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
    approve: bool = False
    """At `PermissionRequest`: the user need not be asked."""
    for_user: str = ""
    """Shown to the user."""


Hook = Callable[[HookEvent, Mapping[str, Any]], Awaitable[HookDecision]]


class Hooks:
    def __init__(self, hooks: Sequence[Hook] = (), helper: Mapping[str, str] = MappingProxyType({})) -> None:
        """`helper`: which one they are of, if they are of one."""
        self._hooks = hooks
        self._helper = helper

    def __bool__(self) -> bool:
        """Whether calls have to wait for what they say."""
        return any(getattr(hook, "may_object", True) for hook in self._hooks)

    def joined_by(self, hook: Hook) -> "Hooks":
        return Hooks([*self._hooks, hook], self._helper)

    def of_helper(self, agent_id: str, agent_type: str) -> "Hooks":
        return Hooks(self._hooks, {"agent_id": agent_id, "agent_type": agent_type})

    async def fire(self, event: HookEvent, call: Mapping[str, Any]) -> HookDecision:
        """Ask all hooks in order; the first that does not allow ends it."""
        messages: list[str] = []
        approved = False
        call = {**self._helper, **call}
        arguments: Mapping[str, Any] | None = None
        go_on = True
        hooks = self._hooks if event in OF_CALLS else [it for it in self._hooks if getattr(it, "hears_all", False)]
        for hook in hooks:
            decision = await hook(event, call)
            go_on = go_on and decision.go_on
            approved = approved or decision.approve
            messages += [decision.system_message] if decision.system_message else []
            if decision.arguments is not None:
                arguments = decision.arguments
                call = {**call, "arguments": arguments}
            if not decision.allow:
                return HookDecision(False, decision.message, go_on, "\n".join(messages), arguments)
        return HookDecision(True, "", go_on, "\n".join(messages), arguments, approved)

    async def consult(self, want: Want) -> bool:
        """Whether the user need not be asked; `PermissionDenied` if one says no. In Ask and Plan nobody answers for the
        user."""
        called = {COMMANDS: "command", "WebFetch": "url"}.get(want.tool, "what")
        decision = await self.fire("PermissionRequest", {"tool": want.tool, "arguments": {called: want.what}})
        if not decision.allow:
            raise PermissionDenied(decision.message)
        return decision.approve and want.mode == "edit_mode"

    async def before_prompt(self, prompt: str, *, is_first: bool) -> tuple[str, ...]:
        """What they add to what the user says; raises `RequestError` if one does not let it through."""
        decisions = [await self.fire("SessionStart", {"source": "startup"})] if is_first else []
        decisions.append(await self.fire("UserPromptSubmit", {"prompt": prompt}))
        refusal = next((it for it in decisions if not it.allow or not it.go_on), None)
        if refusal is not None:
            raise RequestError(refusal.message or refusal.system_message or "a hook did not let the message through")
        return tuple(reminder(it) for it in decisions if it.system_message)

    async def before_helper(self) -> tuple[str, ...]:
        """What they add to what a helper is told."""
        decision = await self.fire("SubagentStart", {})
        return (reminder(decision),) if decision.system_message else ()

    async def before_end(self, *, was_held_back: bool) -> str:
        """Why the turn should go on; once is enough."""
        event = "SubagentStop" if self._helper else "Stop"
        decision = await self.fire(event, {"stop_hook_active": was_held_back})
        return "" if was_held_back or decision.allow or not decision.go_on else decision.message


def reminder(decision: HookDecision) -> str:
    return f"<reminder>\n{decision.system_message}\n</reminder>"
