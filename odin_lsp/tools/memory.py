"""Keep notes from one session to the next."""

import asyncio
from typing import Literal

from odin_lsp.errors import SessionError, ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.redaction import looks_secret
from odin_lsp.sessions.memory import MAX_NOTE, Memory
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.web.untrusted import visible

REFUSAL = "this looks like a key, a token or a password, and those are not kept; note where it is found instead"

READ_ONLY = (
    "in Ask notes for later sessions are only read; `note` keeps it in this session, and the user can have it"
    " remembered in Plan or Edit mode"
)


class MemoryParams(Params):
    action: Literal["remember", "recall", "forget", "note"]
    text: str = ""
    """What to remember, in one sentence that can be understood later; or words to look for."""
    lasting: bool = False
    """Keep it for good, such as lasting wishes of the user; else for some days."""
    id: str = ""
    """Id to forget."""


class MemoryTool(Tool[MemoryParams]):
    """Keep notes on this workspace for later sessions: what the user wants in general, decisions and why, where work
    stands at its end; not what the code already says, never keys or passwords. Forget what is wrong or
    out of date. Note keeps a finding for this session, also when old messages are summarized."""

    name = "Memory"
    effect = Effect.NONE
    params = MemoryParams
    main_only = True

    def describe(self, params: MemoryParams) -> str:
        return f"{params.action} {params.text[:60] or params.id or 'notes'}"

    async def prepare(self, params: MemoryParams, context: ToolContext) -> None:
        if params.action in ("remember", "forget") and not context.may_note:
            raise ToolError(READ_ONLY)
        if params.action in ("remember", "note") and looks_secret(params.text):
            raise ToolError(REFUSAL)

    async def execute(self, params: MemoryParams, context: ToolContext) -> ToolOutput:
        if params.action == "note":
            return _noted(params.text, context)
        memory = context.memory
        if memory is None:
            raise ToolError("notes are turned off in the user's settings")
        try:
            async with memory.one_at_a_time:
                return await asyncio.to_thread(_done, params, memory)
        except (OSError, SessionError) as error:
            raise ToolError(str(error)) from None


def _noted(text: str, context: ToolContext) -> ToolOutput:
    """With the session, where a summary finds it again."""
    finding = " ".join(visible(text)[0].split())
    if not finding or len(finding) > MAX_NOTE:
        raise ToolError(f"a note has 1 to {MAX_NOTE:,} characters, this one has {len(finding):,}; put it into `text`")
    context.note(finding)
    return ToolOutput(data="Noted for this session.", description=f"noted: {finding}")


def _done(params: MemoryParams, memory: Memory) -> ToolOutput:
    match params.action:
        case "remember":
            note = memory.remember(visible(params.text)[0], lasting=params.lasting)
            return ToolOutput(data=f"Remembered (id {note.id}).", description=f"remembered: {note.text}")
        case "forget":
            note = memory.forget(params.id)
            return ToolOutput(data="Forgotten.", description=f"forgot: {note.text}")
        case _:
            notes = memory.search(params.text)
            lines = [f"- {note}" for note in notes] or ["There is no such note."]
            return ToolOutput(data="\n".join(lines), description=f"recalled {len(notes)} notes")
