"""`odin.state`: all that is known, at a glance."""

from typing import Any

from odin_lsp.agent.instructions import Instructions
from odin_lsp.config import Config
from odin_lsp.redaction import shown_url
from odin_lsp.server import wire
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.values import to_wire


@command("odin.state", wire.StateParams)
async def state(server: Work, _params: wire.StateParams, _: Token) -> dict[str, Any]:
    core, now, current = server.core, server.project.now, server.core.sessions.current
    session = await core.sessions.read(None)
    running = current.turns.running if current else None
    instructions = current.scope.briefing.instructions if current else Instructions.load(now.roots)
    at_work = [helper for live in core.sessions if live.helpers for helper in live.helpers.helpers.values()]
    return {
        "mode": current.turns.mode if current else "ask_mode",
        "messages": [to_wire(turn) for turn in session.turns],
        "earlierMessages": session.earlier_turns,
        "queue": [to_wire(message) for message in current.turns.queue()] if current else [],
        "executing": running is not None,
        "updates": list(running.progress.updates) if running else [],
        "subagents": [to_wire(helper.record) for helper in at_work],
        "earlierSubagents": [to_wire(it) for it in session.subagents.values() if it.ended_at is not None],
        "todos": [to_wire(todo) for todo in session.todos],
        "usage": to_wire(session.usage),
        "context": list(running.progress.message.context) if running else [],
        "instructions": instructions.text,
        "instructionFiles": [{"path": it.path, "size": it.size, "isCut": it.is_cut} for it in instructions.files],
        "config": _shown(now.config.model_copy(update={**now.picked})),
        "cache": [
            {
                "filePath": str(path),
                "size": file.size,
                "isModified": file.is_modified,
                "cachedAt": file.cached_at,
                "isTruncated": file.is_truncated,
            }
            for path, file in core.files.cache
        ],
        "cacheConfig": now.config.cache.model_dump(by_alias=True),
        "models": [to_wire(model.status()) for model in core.models],
    }


def _shown(config: Config) -> dict[str, Any]:
    """Addresses without their passwords."""
    values = config.model_dump(by_alias=True, mode="json")
    for section, key in (("publish", "redis"), ("network", "proxy")):
        values[section][key] = shown_url(values[section][key]) if values[section][key] else None
    return values
