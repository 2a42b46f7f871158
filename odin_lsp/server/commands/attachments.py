"""Images and PDFs of sessions, for those who show them."""

import asyncio
import base64
from typing import Any

from odin_lsp.server.attachments import AttachmentData, AttachmentParams
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.sessions import attachments
from odin_lsp.sessions.store import log_path
from odin_lsp.values import to_wire


@command("odin.session.attachment", AttachmentParams)
async def attachment(server: Work, params: AttachmentParams, _: Token) -> dict[str, Any]:
    """What came with the turn that runs may not be on disk yet."""
    sessions = server.core.sessions
    live = sessions.find(params.session_id) if params.session_id else sessions.current
    running = live.turns.running if live else None
    for it in running.progress.message.attached if running else ():
        if attachments.described(it).digest == params.digest:
            return to_wire(AttachmentData(it.data))
    log = log_path(sessions.folder, sessions.real_id(params.session_id))
    data = await asyncio.to_thread(attachments.read, log, params.digest)
    return to_wire(AttachmentData(base64.b64encode(data).decode()))
