"""Start, settings, folders, shutdown."""

import logging
from typing import TYPE_CHECKING

from lsprotocol import types

from odin_lsp.errors import ModelError
from odin_lsp.server.features.files import follow
from odin_lsp.workspace.uris import path_of

if TYPE_CHECKING:
    from odin_lsp.server.server import OdinServer

log = logging.getLogger("odin")


def register(server: "OdinServer") -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.start(params)

    @server.feature(types.INITIALIZED)
    def initialized(_: types.InitializedParams) -> None:
        server.report_config_problems()
        server.background(follow(server))
        server.background(_warm(server))

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        server.change_settings(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def did_change_workspace_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        gone = {path_of(folder.uri) for folder in params.event.removed}
        added = [path_of(folder.uri) for folder in params.event.added]
        server.roots = [root for root in server.roots if root not in gone]
        server.roots += [path for path in added if path is not None and path not in server.roots and path.is_dir()]
        server.core.files.change_roots(server.roots)
        server.documents_changed()

    @server.feature(types.SHUTDOWN)
    def shutdown(_: None = None) -> None:
        server.abort()


async def _warm(server: "OdinServer") -> None:
    try:
        await server.warm()
    except ModelError as error:
        log.info("not warmed: %s", error)  # the first turn will say so to the user
