"""Who is asked, in this order: language servers, then the files themselves, by names. A lower source says so, and an
answer that may have gaps is joined with what the lower source knows."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from odin_lsp.errors import ToolError
from odin_lsp.intelligence import by_name
from odin_lsp.intelligence.by_name import ByName
from odin_lsp.intelligence.by_servers import ByServers
from odin_lsp.intelligence.places import Places
from odin_lsp.intelligence.questions import Answer, Asked
from odin_lsp.intelligence.servers import Servers
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search

MAX_LANGUAGES = 4
"""That are asked for symbols."""


class Sources:
    def __init__(self, files: Files, search: Search, servers: Servers) -> None:
        self._files = files
        self._by_name = ByName(files, search)
        self._by_servers = ByServers(files, servers)
        self.places = Places(files, self._by_name)

    async def ask(self, asked: Asked) -> Answer:
        match asked.what:
            case "outline":
                return await self._outline(asked)
            case "symbols":
                named = await self._by_name.ask(asked)
                told = await self._by_servers.symbols(asked, self._of_each_language(it.path for it in named.found))
                return _joined(told, named) if told is not None else named
            case _:
                pass
        places = await self.places.of(asked)
        if not places and asked.what not in by_name.ANSWERS:
            raise ToolError(f"{asked.symbol} was not found; name a file and a line with it on")
        told = await self._by_servers.ask(asked, places)
        if told is not None and (told.is_complete or asked.what not in by_name.ANSWERS):
            return told
        if asked.what not in by_name.ANSWERS:
            raise ToolError(
                f"no language server can tell {asked.what} of {asked.symbol} here; definition can be told by name"
            )
        named = await self._by_name.ask(asked)
        return _joined(told, named) if told is not None else named

    async def _outline(self, asked: Asked) -> Answer:
        """What the model has edited, and what a server is not ready for, is told by the grammar alone."""
        if asked.path is not None and asked.path not in asked.drafts:
            told = await self._by_servers.outline(asked, asked.path)
            if told is not None and told.found:
                return told
        return await self._by_name.ask(asked)

    def _of_each_language(self, paths: Iterable[Path]) -> list[Path]:
        """One file of each, since a server is found by a document; what is open stands for its language, too."""
        is_open = (it.path for it in self._files.buffers if it.path is not None)
        by_suffix = {it.suffix: it for it in (*is_open, *paths)}
        return list(by_suffix.values())[:MAX_LANGUAGES]


def _joined(told: Answer, named: Answer) -> Answer:
    """What servers have said, and what else has the name."""
    known = {(it.path, it.line) for it in told.found}
    others = [replace(it, is_by_name=True) for it in named.found if (it.path, it.line) not in known]
    caveat = "; ".join(filter(None, (told.caveat, named.caveat)))
    if not told.found:
        return replace(named, caveat=caveat, is_complete=False)
    found = sorted((*told.found, *others), key=lambda it: (it.path, it.line))
    source = f"{told.source}, and by name" if others else told.source
    return Answer(tuple(found), source, is_complete=False, caveat=caveat, more=told.more)
