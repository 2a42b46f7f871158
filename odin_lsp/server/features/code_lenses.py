"""What can be done at a line, shown above it: with a pending hunk, a step of a plan, a comment that asks for it."""

from collections.abc import Iterator
from typing import Any

from lsprotocol import types

from odin_lsp.server.features.code_actions import ACCEPT, REJECT, SEND, unwaited
from odin_lsp.server.host import Client, Host


def register(server: Host) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lens(params: types.CodeLensParams) -> list[types.CodeLens]:
        from odin_lsp.server import comment_requests

        uri = params.text_document.uri
        if not server.abilities.question and server.instructions.knows(uri):
            lenses = [_lens(0, SEND, "odin.send", {"uri": uri})]
        else:
            requests = await comment_requests.lenses(server, uri)
            lenses = [*_hunk_lenses(server, uri), *_plan_lenses(server, uri), *requests]
        if not server.abilities.events:
            for lens in lenses:
                lens.command = unwaited(lens.command)
        return lenses


def _hunk_lenses(server: Client, uri: str) -> Iterator[types.CodeLens]:
    """For an editor without a review of its own."""
    hints = server.editor.hints
    pending = list(hints.pending(uri))
    for index, (file, hunk) in enumerate(pending):
        line = hints.place(file, hunk).start.line
        yield _lens(line, "Odin: Accept", ACCEPT, {"hunkIds": [hunk.id]})
        yield _lens(line, "Odin: Reject", REJECT, {"hunkIds": [hunk.id]})
        if index == 0 and len(pending) > 1:
            yield _lens(line, "Odin: Accept all in this file", ACCEPT, {"uri": uri})


def _plan_lenses(server: Host, uri: str) -> Iterator[types.CodeLens]:
    """Run, Skip and Done at each step that is open; the plan as a whole at its first line."""
    from odin_lsp.agent.plans import is_plan, steps_of

    buffer = server.buffers.of_uri(uri)
    if buffer is None or not buffer.synchronised or not is_plan(buffer.text):
        return
    steps = steps_of(buffer.text)
    if any(step.status == "open" for step in steps):
        yield _lens(0, "Odin: Run the open steps", "odin.executePlan", {"uri": uri})
    yield _lens(0, "Odin: Plan on…", "odin.plan.refuse", {"uri": uri})
    for step in steps:
        about = {"uri": uri, "step": step.number}
        if step.status == "open":
            yield _lens(step.line, "Odin: Run", "odin.executePlan", {"uri": uri, "steps": [step.number]})
            yield _lens(step.line, "Odin: Skip", "odin.plan.mark", {**about, "status": "skipped"})
            yield _lens(step.line, "Odin: Done", "odin.plan.mark", {**about, "status": "done"})
        else:
            yield _lens(step.line, "Odin: Open again", "odin.plan.mark", {**about, "status": "open"})


def _lens(line: int, title: str, command: str, argument: dict[str, Any]) -> types.CodeLens:
    at = types.Position(line, 0)
    return types.CodeLens(types.Range(at, at), command=types.Command(title, command, arguments=[argument]))
