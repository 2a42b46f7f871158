"""Every call passes here, right before it runs: rules first, then the user."""

import json
import uuid
from collections.abc import Mapping
from typing import Any, Protocol

from odin_lsp.errors import PermissionDenied
from odin_lsp.events import Mode
from odin_lsp.permissions.rules import Effect, decide
from odin_lsp.ports import Editor, Option, Question

MAX_SHOWN = 4000


class Gate(Protocol):
    async def allow(self, tool: str, effect: Effect, arguments: Mapping[str, Any], mode: Mode) -> Mapping[str, Any]:
        """The arguments to run with, or `PermissionDenied`."""
        ...


class AskingGate:
    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    async def allow(self, tool: str, effect: Effect, arguments: Mapping[str, Any], mode: Mode) -> Mapping[str, Any]:
        verdict = decide(tool, effect, mode)
        match verdict.decision:
            case "deny":
                raise PermissionDenied(verdict.reason)
            case "ask":
                await self._ask(tool, arguments, verdict.reason)
            case "allow":
                pass
        return arguments

    async def _ask(self, tool: str, arguments: Mapping[str, Any], reason: str) -> None:
        shown = json.dumps(arguments, ensure_ascii=True, indent=2)[:MAX_SHOWN]
        question = Question(
            question_id=uuid.uuid4().hex,
            kind="permission",
            title=f"May Odin run {tool}?",
            detail=f"{reason}\n{shown}",
            options=(Option("allow_once", "Allow once"), Option("deny", "Deny")),
            allow_text=True,
        )
        answer = await self._editor.ask(question)
        if answer is None or answer.option_ids != ("allow_once",):
            said = f": {answer.text}" if answer and answer.text else ""
            raise PermissionDenied(f"the user did not allow {tool}{said}")
