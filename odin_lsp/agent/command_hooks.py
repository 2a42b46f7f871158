"""Hooks that are commands: each is told of an event as JSON, and what it answers is read as Claude Code reads it."""

import asyncio
import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odin_lsp.agent.hooks import GUARDS, HookDecision, HookEvent
from odin_lsp.commands import piped
from odin_lsp.commands.environment import child_environment, find_shell
from odin_lsp.commands.output import Cleaner
from odin_lsp.commands.runner import Spec
from odin_lsp.errors import ToolError
from odin_lsp.events import ActivityChanged, Emit, Notice
from odin_lsp.extensions.hook_files import CommandHook
from odin_lsp.permissions.rules import COMMANDS
from odin_lsp.values import is_object

NAMES = {
    "AgentTool": "Task",
    "AskUser": "AskUserQuestion",
    "EditTool": "Edit",
    "Lookup": "LSP",
    "MultiEditTool": "MultiEdit",
    "WriteFile": "Write",
    COMMANDS: "Bash",
}
"""What others call these tools."""
TELLING = ("UserPromptSubmit", "SessionStart")
"""What a hook prints at these is told to the model, also if it is no JSON."""
BLOCKS = 2
"""An exit code that means no; the reason is on stderr."""
MAX_PRINTED = 256 * 1024
MAX_TOLD = 10_000
MAX_NAMED = 100


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every hook is told."""

    session_id: str
    cwd: Path
    mode: str
    transcript: Path
    roots: Sequence[Path]
    secret_names: Collection[str] = ()


@dataclass(slots=True)
class _Printed:
    text: str = ""
    _cleaner: Cleaner = field(default_factory=Cleaner)

    @property
    def too_long(self) -> bool:
        return len(self.text) > MAX_PRINTED

    def feed(self, data: bytes) -> None:
        self.text += self._cleaner.feed(data)

    def close(self) -> None:
        pass


class CommandHooks:
    """One turn's."""

    hears_all = True

    def __init__(
        self,
        hooks: Sequence[CommandHook],
        around: Surroundings,
        emit: Emit,
    ) -> None:
        self._hooks = hooks
        self._around = around
        self._emit = emit

    @property
    def may_object(self) -> bool:
        """Whether a call has to wait for what one of them says."""
        return any(it.event == "PreToolUse" for it in self._hooks)

    async def __call__(self, event: HookEvent, about: Mapping[str, Any]) -> HookDecision:
        """All that are meant run side by side. One that says no is not overruled."""
        tool = str(about.get("tool", ""))
        meant = [it for it in self._hooks if it.event == event and it.is_for(tool, NAMES.get(tool, tool))]
        if not meant:
            return HookDecision()
        self._emit(ActivityChanged("executing", f"hook {', '.join(it.command for it in meant)}"[:MAX_NAMED]))
        said = json.dumps(self._said(event, about), ensure_ascii=False).encode() + b"\n"
        decisions = await asyncio.gather(*(self._ask(hook, said) for hook in meant))
        return _joined(decisions)

    def _said(self, event: HookEvent, about: Mapping[str, Any]) -> dict[str, Any]:
        said: dict[str, Any] = {
            "session_id": self._around.session_id,
            "transcript_path": str(self._around.transcript),
            "cwd": str(self._around.cwd),
            "permission_mode": "plan" if self._around.mode != "edit_mode" else "default",
            "hook_event_name": event,
        }
        if "tool" in about:
            name = str(about["tool"])
            said |= {
                "tool_name": NAMES.get(name, name),
                "tool_input": about["arguments"],
                "tool_use_id": about["callId"],
            }
        if "result" in about:
            key = "error" if event == "PostToolUseFailure" else "tool_response"
            said[key] = about["result"]
        return said | {key: about[key] for key in ("prompt", "source", "stop_hook_active") if key in about}

    async def _ask(self, hook: CommandHook, said: bytes) -> HookDecision:
        printed = _Printed()
        environment = child_environment(os.environ, self._around.roots, secret_names=self._around.secret_names)
        project = str(self._around.cwd)
        spec = Spec(
            argv=(find_shell() or "/bin/sh", "-c", hook.command),
            cwd=self._around.cwd,
            environment={**environment, "CLAUDE_PROJECT_DIR": project, "ODIN_PROJECT_DIR": project},
        )
        try:
            running = await piped.start(spec, printed)
        except ToolError as error:
            return self._failed(hook, str(error))
        try:
            running.write(said)
            running.end_input()
            async with asyncio.timeout(hook.timeout):
                ended = await running.ended()
        except TimeoutError:
            return self._failed(hook, f"it did not answer within {hook.timeout:g} s")
        finally:
            running.stop()
            await running.ended()
        if printed.too_long:
            return self._failed(hook, "it printed too much")
        if ended.exit_code == BLOCKS:
            return _refusal(hook, running.complaints or "it said no, and not why")
        if ended.exit_code != 0:
            why = f"it ended with {ended.exit_code}: {running.complaints}" if not ended.problem else ended.problem
            return self._failed(hook, why)
        return self._understood(hook, printed.text.strip())

    def _failed(self, hook: CommandHook, why: str) -> HookDecision:
        """A guard that fails keeps its gate shut."""
        message = f"the hook `{hook.command}` failed: {why[:MAX_TOLD]}"
        self._emit(Notice("warning", message))
        return HookDecision(allow=False, message=message) if hook.event in GUARDS else HookDecision()

    def _understood(self, hook: CommandHook, text: str) -> HookDecision:
        if not text.startswith("{"):
            return HookDecision(system_message=text[:MAX_TOLD] if hook.event in TELLING else "")
        try:
            answer = json.loads(text)
        except (ValueError, RecursionError):
            return self._failed(hook, "what it printed is no JSON")
        return _decision(hook, answer)


def _decision(hook: CommandHook, answer: Mapping[str, Any]) -> HookDecision:
    more = answer.get("hookSpecificOutput")
    more = more if is_object(more) else {}
    word = more.get("permissionDecision") or answer.get("decision")
    reason = str(more.get("permissionDecisionReason") or answer.get("reason") or answer.get("stopReason") or "")
    told = [str(it) for it in (answer.get("systemMessage"), more.get("additionalContext")) if it]
    changed = more.get("updatedInput")
    is_refused = word in ("deny", "block")
    return HookDecision(
        allow=not is_refused,
        message=_refusal(hook, reason or "it said no, and not why").message if is_refused else "",
        go_on=answer.get("continue") is not False,
        system_message="\n".join(told)[:MAX_TOLD],
        arguments=changed if is_object(changed) else None,
    )


def _refusal(hook: CommandHook, why: str) -> HookDecision:
    return HookDecision(allow=False, message=f"the hook `{hook.command}` says: {why[:MAX_TOLD]}")


def _joined(decisions: Sequence[HookDecision]) -> HookDecision:
    refusals = [it.message for it in decisions if not it.allow]
    changed = [it.arguments for it in decisions if it.arguments is not None]
    return HookDecision(
        allow=not refusals,
        message="\n".join(refusals),
        go_on=all(it.go_on for it in decisions),
        system_message="\n".join(it.system_message for it in decisions if it.system_message),
        arguments=changed[-1] if changed else None,
    )
