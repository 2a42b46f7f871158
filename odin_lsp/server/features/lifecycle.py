"""Start, settings, folders, shutdown."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from lsprotocol import types

from odin_lsp.errors import ModelError
from odin_lsp.server.features.files import follow
from odin_lsp.server.host import Host
from odin_lsp.server.tracing import Tracing
from odin_lsp.tasks import Tasks
from odin_lsp.workspace.uris import path_of

log = logging.getLogger("odin")


class Lifecycle(Host, Protocol):
    """The server, as its own life sees it."""

    @property
    def tasks(self) -> Tasks: ...

    @property
    def tracing(self) -> Tracing: ...

    def start(self, params: types.InitializeParams) -> None: ...

    def change_settings(self, settings: object) -> None: ...

    def report_settings(self) -> None: ...

    async def report_state_problem(self) -> None: ...

    async def warm(self) -> None: ...

    async def listen(self) -> None:
        """For other front ends of the user."""
        ...

    async def offer_ide(self) -> None:
        """To agents that the user has named."""
        ...

    def abort(self) -> None: ...


def register(server: Lifecycle) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.start(params)

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        server.report_settings()
        server.background(server.report_state_problem())
        server.tasks.keep(lambda: follow(server), "the file watcher")
        server.tasks.keep(server.listen, "the socket")
        server.tasks.keep(server.offer_ide, "the IDE for other agents")
        server.background(_warm(server))

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        server.change_settings(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_workspace_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        server.project.change_folders(_paths(params.event.removed), _paths(params.event.added))
        server.documents_changed()

    @server.feature(types.SET_TRACE)
    def set_trace(params: types.SetTraceParams) -> None:
        server.tracing.set(params.value)

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None = None) -> None:
        server.abort()


async def _warm(server: Lifecycle) -> None:
    try:
        await server.warm()
    except ModelError as error:
        log.info("not warmed: %s", error)  # the first turn will say so to the user


def _paths(folders: Sequence[types.WorkspaceFolder]) -> tuple[Path, ...]:
    return tuple(path for folder in folders if (path := path_of(folder.uri)) is not None)
