"""Files that change outside of the editor's documents: told by the client, or found out by watching."""

import asyncio
import os
from pathlib import Path

from lsprotocol import types

from odin_lsp.config import FILE_NAME, FOLDER
from odin_lsp.server.host import Host
from odin_lsp.server.rpc import ClientError
from odin_lsp.workspace.buffers import moved
from odin_lsp.workspace.uris import path_of
from odin_lsp.workspace.watch import Watcher

EVERYTHING = types.FileOperationRegistrationOptions(
    [types.FileOperationFilter(types.FileOperationPattern("**/*"), scheme="file")]
)


def register(server: Host) -> None:
    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        changed(server, {path for event in params.changes if (path := path_of(event.uri))})

    @server.feature(types.WORKSPACE_DID_CREATE_FILES, EVERYTHING)
    def did_create_files(params: types.CreateFilesParams) -> None:
        changed(server, {path for file in params.files if (path := path_of(file.uri))})

    @server.feature(types.WORKSPACE_DID_DELETE_FILES, EVERYTHING)
    def did_delete_files(params: types.DeleteFilesParams) -> None:
        changed(server, {path for file in params.files if (path := path_of(file.uri))})

    @server.feature(types.WORKSPACE_DID_RENAME_FILES, EVERYTHING)
    def did_rename_files(params: types.RenameFilesParams) -> None:
        uris = [uri for file in params.files for uri in (file.old_uri, file.new_uri)]
        changed(server, {path for uri in uris if (path := path_of(uri))})
        pairs = [(path_of(file.old_uri), path_of(file.new_uri)) for file in params.files]
        renames = [(Path(os.path.realpath(old)), Path(os.path.realpath(new))) for old, new in pairs if old and new]
        server.background(server.core.authorship.renamed(renames))


async def follow(server: Host) -> None:
    """Have the client tell of changes; where it cannot, watch, until cancelled or until that fails."""
    if server.abilities.watched_files and server.watcher is None:
        watcher = types.FileSystemWatcher("**/*")
        registration = types.Registration(
            "odin-files",
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
            types.DidChangeWatchedFilesRegistrationOptions([watcher]),
        )
        try:
            params = types.RegistrationParams([registration])
            await server.rpc.ask_client(types.CLIENT_REGISTER_CAPABILITY, params, server.client_timeout)
        except (ClientError, TimeoutError):
            pass
        else:
            server.core.files.are_changes_told = True
            return
    if server.watcher is None:
        server.watcher = Watcher(lambda: _folders(server), lambda paths: changed(server, paths))
    await server.watcher.run()


def changed(server: Host, paths: set[Path]) -> None:
    """Forget what was read of these files, and say so to an editor that still shows the old text."""
    files = server.core.files
    files.heed(paths)
    if any(path.name == FILE_NAME or FOLDER in path.parts for path in paths):
        server.background(_look_again(server))
    stale = [it.uri for it in server.buffers if it.path in paths and not it.unsaved and moved(it)]
    if stale:
        server.background(server.editor.reload(tuple(stale)))


async def _look_again(server: Host) -> None:
    """What has changed is read in a thread: it may be many files, and of strangers."""
    await asyncio.to_thread(server.project.read_ahead)
    server.project.look()


def _folders(server: Host) -> set[Path]:
    open_in = {it.path.parent for it in server.buffers if it.path is not None}
    return open_in | set(server.project.now.roots)
