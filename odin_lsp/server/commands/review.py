"""`odin.review.*`: decide on pending hunks, from anywhere. `odin.undoTurn`: take back what a turn did."""

from pathlib import Path
from typing import Any

from odin_lsp.errors import RequestError
from odin_lsp.ports import Decision, Receipt
from odin_lsp.records import KeptFile
from odin_lsp.review.proposals import PendingHunk
from odin_lsp.review.undo import Wanted
from odin_lsp.server import wire
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.values import to_wire
from odin_lsp.workspace.uris import path_of


@command("odin.review.accept", wire.AcceptParams)
async def accept(server: Work, params: wire.AcceptParams, _: Token) -> dict[str, Any]:
    texts = params.texts or {}
    decisions = [
        Decision(hunk_id=it.id, decision="modify", text=texts[it.id])
        if it.id in texts
        else Decision(hunk_id=it.id, decision="accept")
        for it in await _selected(server, params.proposal_id, params.hunk_ids, params.uri)
    ]
    return to_wire(wire.Receipts(await _decided(server, decisions)))


@command("odin.review.reject", wire.RejectParams)
async def reject(server: Work, params: wire.RejectParams, _: Token) -> dict[str, Any]:
    decisions = [
        Decision(hunk_id=it.id, decision="reject", reason=params.reason)
        for it in await _selected(server, params.proposal_id, params.hunk_ids, params.uri)
    ]
    return to_wire(wire.Receipts(await _decided(server, decisions)))


@command("odin.review.reopen", wire.ReopenParams)
async def reopen(server: Work, params: wire.ReopenParams, _: Token) -> dict[str, Any]:
    hunks = await _selected(server, params.proposal_id, params.hunk_ids, params.uri)
    return to_wire(wire.Receipts(tuple(await server.core.desk.reopen(hunks))))


@command("odin.review.list", wire.ReviewListParams)
async def list_pending(server: Work, _params: wire.ReviewListParams, _: Token) -> dict[str, Any]:
    await server.core.restore_reviews()
    desk = server.core.desk
    return to_wire(wire.Proposals(tuple(desk.shown(proposal) for proposal in desk.proposals)))


@command("odin.undoTurn", wire.UndoParams)
async def undo_turn(server: Work, params: wire.UndoParams, _: Token) -> dict[str, Any]:
    hunk_ids = frozenset(params.hunk_ids) if params.hunk_ids is not None else None
    undone = await server.core.undo(params.turn_id, Wanted(_path(params.uri), hunk_ids))
    kept = tuple(KeptFile(it.path.as_uri(), it.reason, it.hunk_ids) for it in undone.kept)
    return to_wire(wire.Undone(tuple(it.as_uri() for it in undone.restored), kept, undone.undo_id))


async def _decided(server: Work, decisions: list[Decision]) -> tuple[Receipt, ...]:
    """What became of it. Editors that know nothing of Odin may stand still until they are answered, and could neither
    make the change nor tell of it: they get what is known at once."""
    if server.abilities.review:
        return tuple(await server.core.desk.decide(decisions))
    return server.core.desk.begin(decisions)


async def _selected(
    server: Work, proposal_id: str | None, hunk_ids: tuple[str, ...] | None, uri: str | None
) -> list[PendingHunk]:
    """Editors show what waits while the server is started anew, and whoever decides then has decided."""
    await server.core.restore_reviews()
    return server.core.desk.proposals.select(proposal_id, hunk_ids, _path(uri))


def _path(uri: str | None) -> Path | None:
    if uri is None:
        return None
    if (path := path_of(uri)) is None:
        raise RequestError(f"{uri!r} names no file on this machine; name one")
    return path.resolve()
