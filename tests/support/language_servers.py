"""Language servers for tests: a workspace, and servers of Odin's own in it that do what a table says."""

import json
import os
import sys
from pathlib import Path

from odin_lsp.config import CacheSettings, LanguageServerSettings
from odin_lsp.language_servers.choosing import Around
from odin_lsp.language_servers.pool import OwnServers
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search

SCRIPT = Path(__file__).with_name("scripted_language_server.py")
NAME = "scripted"
READY = {"method": "experimental/serverStatus", "params": {"quiescent": True}}


class World:
    """A workspace with servers of its own; `close` ends them."""

    def __init__(self, folder, **settings):
        self.outside = folder
        self.root = folder / "ws"
        self.root.mkdir()
        self.buffers = Buffers()
        self.files = Files([self.root], self.buffers, FileCache(CacheSettings()))
        self.settings = settings
        self.told = []
        self.servers = OwnServers(self.files, Search(self.files), Around(), self._tell)

    def use(self, *, is_trusted=False, pauses=(0.0, 0.0), start_seconds=30.0, **settings):
        """Begin with these settings."""
        values = LanguageServerSettings.model_validate({"timeout": 20, **self.settings, **settings})
        around = Around(roots=(self.root,), settings=values, is_trusted=is_trusted)
        search = Search(self.files)
        self.servers = OwnServers(self.files, search, around, self._tell, pauses=pauses, start_seconds=start_seconds)
        return self.servers

    def script(self, table, **more):
        """Use a server that does what the table says, for files named `*.toy`."""
        path = self.outside / "table.json"
        path.write_text(json.dumps(table), encoding="utf-8")
        command = [sys.executable, str(SCRIPT), str(path)]
        return self.use(servers={NAME: {"command": command, "languages": {".toy": "toy"}}}, **more)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        self.files.heed([path])
        return path

    async def first(self, path):
        return (await self.servers.of(path))[0]

    async def received(self, server, method):
        """The params of all messages of that method which a scripted server was sent."""
        told = await server.ask("test/received", {})
        return [it.get("params") for it in told.result if it.get("method") == method]

    def _tell(self, level, message):
        self.told.append((level, message))


def at(path, line=0, character=0):
    place = {"line": line, "character": character}
    return {"textDocument": {"uri": path.as_uri()}, "position": place, "context": {"includeDeclaration": True}}


def diagnostic(message, line=0, character=0, end=None, **more):
    start = {"line": line, "character": character}
    return {"range": {"start": start, "end": end or start}, "message": message, "severity": 1, **more}


def processes_below(pid: int) -> list[int]:
    """The ids of all processes that it has started, and those these have."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, waiting = [], [pid]
    while waiting:
        above = waiting.pop()
        below = [it for it, parent in parents.items() if parent == above]
        found += below
        waiting += below
    return found


def own_processes() -> set[int]:
    return set(processes_below(os.getpid()))
