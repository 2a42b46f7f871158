"""The editor's language servers first: they run already, as the user has set them up. Where it has none, Odin's own."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from odin_lsp.intelligence.servers import Problems, Server, Servers
from odin_lsp.server_states import ServerState


class Chosen:
    def __init__(self, editor: Servers, own: Servers) -> None:
        self._editor = editor
        self._own = own

    async def of(self, path: Path) -> Sequence[Server]:
        return await self._editor.of(path) or await self._own.of(path)

    async def problems(self, paths: Collection[Path], patience: float) -> Mapping[Path, Problems]:
        """The editor is asked about all: it may have a linter where it has nobody who knows the language."""
        left = [path for path in paths if not await self._editor.of(path)]
        asked = [self._editor.problems(paths, patience)]
        if left or not paths:
            asked.append(self._own.problems(left, patience))
        told: dict[Path, Problems] = {}
        for problems in await asyncio.gather(*asked):
            for path, known in problems.items():
                told[path] = _joined(told[path], known) if path in told else known
        return told

    async def all_states(self) -> Sequence[ServerState]:
        return (*await self._own.all_states(), *await self._editor.all_states())

    async def close(self) -> None:
        await self._editor.close()
        await self._own.close()


def _joined(one: Problems, other: Problems) -> Problems:
    """What is not current says nothing beside what is."""
    if one.is_current != other.is_current:
        return one if one.is_current else other
    return Problems(tuple(dict.fromkeys((*one.found, *other.found))), one.is_current)
