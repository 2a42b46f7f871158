"""Hooks that are commands: each is told of an event as JSON, and what it answers is read as Claude Code reads it."""

import asyncio
import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from odin_lsp.agent.hooks import GUARDS, HookDecision, HookEvent
from odin_lsp.commands import piped
from odin_lsp.commands.environment import child_environment, find_shell
from odin_lsp.commands.guard import Guard
from odin_lsp.commands.output import Cleaner
from odin_lsp.commands.runner import Ended, Spec
from odin_lsp.errors import ToolError
from odin_lsp.events import ActivityChanged, Emit, Notice
from odin_lsp.extensions.hook_files import CommandHook, describe_hook
from odin_lsp.permissions.foreign_names import former_name
from odin_lsp.permissions.rules import COMMANDS
from odin_lsp.permissions.sandbox import Policy, confine
from odin_lsp.scratch import temporary_folder
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
SUBJECTS: Mapping[str, str] = {
    **dict.fromkeys(("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"), "tool"),
    **dict.fromkeys(("SubagentStart", "SubagentStop"), "agent_type"),
    **dict.fromkeys(("PreCompact", "PostCompact"), "trigger"),
    "SessionStart": "source",
    "SessionEnd": "reason",
    "Notification": "notification_type",
}
"""What a matcher is about; at other events there is nothing to choose from."""
TOLD = (
    "agent_id",
    "agent_type",
    "compact_summary",
    "custom_instructions",
    "message",
    "notification_type",
    "prompt",
    "reason",
    "source",
    "stop_hook_active",
    "title",
    "trigger",
)
"""What is told as it is."""
BLOCKS = 2
"""An exit code that means no; the reason is on stderr."""
MAX_PRINTED = 256 * 1024
MAX_TOLD = 10_000
MAX_NAMED = 100
CHANGED = "a file that it names has changed since you agreed to it; it runs again once you have agreed to that"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every hook is told."""

    session_id: str
    cwd: Path
    mode: str
    transcript: Path
    roots: Sequence[Path]
    secret_names: Collection[str] = ()
    network: bool | None = None
    """They run in the sandbox, with or without the network; none: they do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What one hook has done."""

    hook: CommandHook
    decision: HookDecision
    exit_code: int | None = None
    seconds: float = 0.0
    printed: str = ""
    complaints: str = ""
    failure: str = ""


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
        return any(it.event in ("PreToolUse", "PermissionRequest") for it in self._hooks)

    async def __call__(self, event: HookEvent, about: Mapping[str, Any]) -> HookDecision:
        """All that are meant run side by side. One that says no is not overruled."""
        if not self.meant(event, about):
            return HookDecision()
        answered = await self.answers(event, about)
        for it in answered:
            if it.failure:
                self._emit(Notice("warning", it.failure))
            if it.decision.for_user:
                self._emit(Notice("info", it.decision.for_user))
        return _joined([it.decision for it in answered])

    def meant(self, event: HookEvent, about: Mapping[str, Any]) -> list[CommandHook]:
        subject = str(about.get(SUBJECTS[event], "")) if event in SUBJECTS else None
        names = () if subject is None else (subject, NAMES.get(subject, subject), former_name(subject))
        return [it for it in self._hooks if it.event == event and (subject is None or it.is_for(*names))]

    async def answers(self, event: HookEvent, about: Mapping[str, Any]) -> list[Answered]:
        meant = self.meant(event, about)
        self._emit(ActivityChanged("executing", f"hook {', '.join(it.command for it in meant)}"[:MAX_NAMED]))
        said = json.dumps(self._said(event, about), ensure_ascii=False).encode() + b"\n"
        async with temporary_folder("odin-hook-") as folder:
            return await asyncio.gather(*(self._ask(hook, said, folder) for hook in meant))

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
                **({"tool_use_id": about["callId"]} if "callId" in about else {}),
            }
        if "result" in about:
            key = "error" if event == "PostToolUseFailure" else "tool_response"
            said[key] = about["result"]
        return said | {key: about[key] for key in TOLD if key in about}

    def _spec(self, hook: CommandHook, folder: Path) -> Spec:
        around, project = self._around, str(self._around.cwd)
        if hook.agreed_as and describe_hook(hook, around.cwd).id != hook.agreed_as:
            raise ToolError(CHANGED)
        environment = child_environment(
            os.environ,
            around.roots,
            secret_names=around.secret_names,
            temporary=None if around.network is None else folder,
        )
        confinement = None
        if around.network is not None:
            confinement = confine(Policy((*around.roots, folder), around.network, Guard(around.roots).protect))
            if confinement is None:
                raise ToolError("`extensions.sandboxHooks` is on, but no sandbox works here")
        return Spec(
            argv=(find_shell() or "/bin/sh", "-c", hook.command),
            cwd=around.cwd,
            environment={**environment, "CLAUDE_PROJECT_DIR": project, "ODIN_PROJECT_DIR": project},
            confinement=confinement,
        )

    async def _ask(self, hook: CommandHook, said: bytes, folder: Path) -> Answered:
        """`folder` is for temporary files."""
        printed = _Printed()
        try:
            running = await piped.start(await asyncio.to_thread(self._spec, hook, folder), printed)
        except ToolError as error:
            return _failed(hook, str(error))
        try:
            running.write(said)
            running.end_input()
            async with asyncio.timeout(hook.timeout):
                ended = await running.ended()
        except TimeoutError:
            return _failed(hook, f"it did not answer within {hook.timeout:g} s")
        finally:
            running.stop()
            await running.ended()
        answered = _understood(hook, ended, printed, running.complaints)
        return replace(
            answered,
            exit_code=ended.exit_code,
            seconds=ended.seconds,
            printed=printed.text,
            complaints=running.complaints,
        )


def _understood(hook: CommandHook, ended: Ended, printed: _Printed, complaints: str) -> Answered:
    text = printed.text.strip()
    if printed.too_long:
        return _failed(hook, "it printed too much")
    if ended.exit_code == BLOCKS:
        return Answered(hook=hook, decision=_refusal(hook, complaints or "it said no, and not why"))
    if ended.exit_code != 0:
        return _failed(hook, ended.problem or f"it ended with {ended.exit_code}: {complaints}")
    if not text.startswith("{"):
        told = text[:MAX_TOLD] if hook.event in TELLING else ""
        return Answered(hook=hook, decision=HookDecision(system_message=told))
    try:
        answer = json.loads(text)
    except (ValueError, RecursionError):
        return _failed(hook, "what it printed is no JSON")
    return Answered(hook=hook, decision=_decision(hook, answer))


def _failed(hook: CommandHook, why: str) -> Answered:
    """A guard that fails keeps its gate shut."""
    message = f"the hook `{hook.command}` failed: {why[:MAX_TOLD]}"
    decision = HookDecision(allow=False, message=message) if hook.event in GUARDS else HookDecision()
    return Answered(hook=hook, decision=decision, failure=message)


def _decision(hook: CommandHook, answer: Mapping[str, Any]) -> HookDecision:
    more = answer.get("hookSpecificOutput")
    more = more if is_object(more) else {}
    asked = more.get("decision")
    asked = asked if is_object(asked) else {}
    word = asked.get("behavior") or more.get("permissionDecision") or answer.get("decision")
    reason = str(asked.get("message") or more.get("permissionDecisionReason") or answer.get("reason") or "")
    reason = reason or str(answer.get("stopReason") or "")
    told = [str(it) for it in (answer.get("systemMessage"), more.get("additionalContext")) if it]
    changed = more.get("updatedInput")
    is_refused = word in ("deny", "block")
    answers_for_user = hook.event == "PermissionRequest" and hook.source.owner == "user"
    return HookDecision(
        allow=not is_refused,
        message=_refusal(hook, reason or "it said no, and not why").message if is_refused else "",
        go_on=answer.get("continue") is not False,
        system_message="\n".join(told)[:MAX_TOLD],
        arguments=changed if is_object(changed) else None,
        approve=answers_for_user and word == "allow" and "updatedInput" not in asked,
        for_user=str(answer.get("systemMessage") or "")[:MAX_TOLD],
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
        approve=any(it.approve for it in decisions) and not refusals,
    )
