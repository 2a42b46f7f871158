"""`odin.review.*`: decide on pending hunks, from anywhere. `odin.undoTurn`: take back what a turn did."""

from functools import partial
from typing import TYPE_CHECKING, Any

from odin_lsp.ports import Decision
from odin_lsp.review.proposals import PendingHunk
from odin_lsp.server import wire
from odin_lsp.values import to_wire
from odin_lsp.workspace.uris import path_of

if TYPE_CHECKING:
    from odin_lsp.server.server import OdinServer


def register(server: "OdinServer") -> None:
    server.odin_command("odin.review.accept", wire.AcceptParams)(partial(_accept, server))
    server.odin_command("odin.review.reject", wire.RejectParams)(partial(_reject, server))
    server.odin_command("odin.review.list", wire.ReviewListParams)(partial(_list, server))
    server.odin_command("odin.undoTurn", wire.UndoParams)(partial(_undo, server))


async def _accept(server: "OdinServer", params: wire.AcceptParams, _: object) -> dict[str, Any]:
    texts = params.texts or {}
    decisions = [
        Decision(hunk_id=it.id, decision="modify", text=texts[it.id])
        if it.id in texts
        else Decision(hunk_id=it.id, decision="accept")
        for it in _selected(server, params.proposal_id, params.hunk_ids, params.uri)
    ]
    return to_wire(wire.Receipts(tuple(server.core.desk.decide(decisions))))


async def _reject(server: "OdinServer", params: wire.RejectParams, _: object) -> dict[str, Any]:
    decisions = [
        Decision(hunk_id=it.id, decision="reject", reason=params.reason)
        for it in _selected(server, params.proposal_id, params.hunk_ids, params.uri)
    ]
    return to_wire(wire.Receipts(tuple(server.core.desk.decide(decisions))))


async def _list(server: "OdinServer", _params: wire.ReviewListParams, _: object) -> dict[str, Any]:
    desk = server.core.desk
    return to_wire(wire.Proposals(tuple(desk.shown(proposal) for proposal in desk.proposals)))


async def _undo(server: "OdinServer", params: wire.UndoParams, _: object) -> dict[str, Any]:
    restored, kept = await server.core.desk.undo(params.turn_id)
    kept_files = tuple(wire.KeptFile(path.as_uri(), reason) for path, reason in kept)
    return to_wire(wire.Undone(tuple(path.as_uri() for path in restored), kept_files))


def _selected(
    server: "OdinServer", proposal_id: str | None, hunk_ids: tuple[str, ...] | None, uri: str | None
) -> list[PendingHunk]:
    path = path_of(uri) if uri else None
    return server.core.desk.proposals.select(proposal_id, hunk_ids, path.resolve() if path else None)
