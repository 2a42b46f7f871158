"""`odin.state`: all that is known, at a glance."""

import asyncio
from typing import Any

from odin_lsp.agent.core import Core
from odin_lsp.agent.instructions import Instructions
from odin_lsp.agent.live_session import LiveSession
from odin_lsp.config import Config
from odin_lsp.project.project import Situation
from odin_lsp.redaction import shown_url
from odin_lsp.server import glance
from odin_lsp.server.commands.base import Token, command
from odin_lsp.server.host import Work
from odin_lsp.server_states import McpState
from odin_lsp.values import to_wire


@command("odin.state", glance.StateParams)
async def state(server: Work, params: glance.StateParams, _: Token) -> dict[str, Any]:
    core, now = server.core, server.project.now
    mcp_servers = await states_of_servers(core, now)
    language_servers = await core.servers.all_states()
    session = await core.sessions.read(params.session_id)
    held = await core.files.held()
    told = await asyncio.to_thread(Instructions.load, now.roots)
    if here := _open_session(core, params.session_id):
        await asyncio.to_thread(here.scope.read_briefing)
    # Nothing is awaited from here on, so that all of it is true at once.
    live = _open_session(core, params.session_id)
    running = live.turns.running if live else None
    instructions = live.scope.briefing.instructions if live else told
    at_work = [helper for it in core.sessions if it.helpers for helper in it.helpers.helpers.values()]
    return to_wire(
        glance.State(
            session_id=session.id,
            mode=live.turns.mode if live else "ask_mode",
            messages=tuple(session.turns),
            earlier_messages=session.earlier_turns,
            queue=tuple(live.turns.queue()) if live else (),
            unbegun=tuple(session.unbegun),
            suspended=session.suspended is not None,
            executing=running is not None,
            compacting=live is not None and live.compaction is not None and live.compaction.is_running,
            updates=tuple(running.progress.updates) if running else (),
            subagents=tuple(helper.record for helper in at_work),
            earlier_subagents=tuple(it for it in session.subagents.values() if it.ended_at is not None),
            todos=tuple(session.todos),
            usage=session.usage,
            context=running.progress.message.context if running else (),
            instructions=instructions.text,
            instruction_files=tuple(glance.InstructionFile(it.path, it.size, it.is_cut) for it in instructions.files),
            config=_shown(now.config.model_copy(update={**now.picked})),
            cache=tuple(
                glance.CachedFile(
                    file_path=str(path),
                    size=file.size,
                    is_modified=file.is_modified,
                    cached_at=file.cached_at,
                    is_truncated=file.is_truncated,
                )
                for path, file in held
            ),
            cache_config=now.config.cache.model_dump(by_alias=True),
            models=tuple(model.status() for model in core.models),
            language_servers=tuple(language_servers),
            mcp_servers=mcp_servers,
        )
    )


def _open_session(core: Core, session_id: str | None) -> LiveSession | None:
    return core.sessions.find(session_id) if session_id else core.sessions.current


async def states_of_servers(core: Core, now: Situation) -> tuple[McpState, ...]:
    """Also of those that no turn has needed yet, then of those that are switched off."""
    if now.is_restricted:
        return ()
    found = await asyncio.to_thread(lambda: now.extensions)
    running = {it.name: it for it in core.mcp.states()}
    return (
        *(
            running.get(name) or McpState(name=name, transport=it.transport, state="configured")
            for name, it in found.servers.items()
        ),
        *(McpState(name=it.name, transport=it.transport, state="disabled") for it in found.off_servers),
    )


def _shown(config: Config) -> dict[str, Any]:
    """Addresses without their passwords, and programs for keys without their arguments."""
    values = config.model_dump(by_alias=True, mode="json")
    for section, key in (("publish", "redis"), ("network", "proxy")):
        values[section][key] = shown_url(values[section][key]) if values[section][key] else None
    values["keyHelpers"] = {provider: command[:1] for provider, command in values["keyHelpers"].items()}
    return values
