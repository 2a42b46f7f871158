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
    """At each step; the plan as a whole at its first line."""
    from odin_lsp.server.plan_offers import offers

    for it in offers(server, uri):
        yield _lens(it.lines.start if it.lines else 0, it.above, it.command, it.argument)


def _lens(line: int, title: str, command: str, argument: dict[str, Any]) -> types.CodeLens:
    at = types.Position(line, 0)
    return types.CodeLens(types.Range(at, at), command=types.Command(title, command, arguments=[argument]))
