"""A terminal's workspace: the one that a host has open, where it agrees, else one of its own."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from odin_lsp.errors import OdinError
from odin_lsp.host.remote import APART, RemoteWorkspace, attached, introduced
from odin_lsp.logs import Logs
from odin_lsp.printing import say
from odin_lsp.terminal.answering import Answering, Policy
from odin_lsp.terminal.person import Person
from odin_lsp.terminal.seam import Workspace


@asynccontextmanager
async def opened(
    folder: Path,
    settings: Mapping[str, Any],
    policy: Policy,
    person: Person | None = None,
    *,
    attaches: bool = True,
    starts: bool = True,
    is_for_own: bool = True,
) -> AsyncGenerator[tuple[Workspace, Answering]]:
    """With who answers there. `starts`: a host is started if there is none. What it takes to work by itself is imported
    only then: it takes a second."""
    answering = Answering(policy, person, is_for_own=is_for_own)
    remote = await _attached(folder, settings, answering, starts=starts) if attaches else None
    if remote is not None:
        async with remote:
            yield remote, answering
        return

    await asyncio.to_thread(import_module, "odin_lsp.library.workspace")
    from odin_lsp.library.workspace import Workspace as Own
    from odin_lsp.terminal.editor import TerminalEditor

    editor, logs = TerminalEditor(policy, person), Logs("error")
    async with Own(folder, settings=settings, editor=editor) as workspace:
        logs.configure(workspace.config.log_level)
        logs.begin()
        yield workspace, editor


async def _attached(
    folder: Path, settings: Mapping[str, Any], answering: Answering, *, starts: bool
) -> RemoteWorkspace | None:
    """To a host; if there is none, to one that is started for this and for what comes next."""
    try:
        if (remote := await attached(folder, settings, answering)) is not None:
            return remote
        from odin_lsp.host.starting import is_wanted, started

        found = await started(folder) if starts and is_wanted() else None
        return await introduced(found, folder, settings, answering) if found else None
    except OdinError as error:
        say(f"odin: {APART.format(why=error)}")
        return None
