"""Calls of an agent of others in an Odin that runs: an editor's, or one that a terminal has started."""

import asyncio
import glob
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from odin_lsp.agent_door.eliciting import Ask, Eliciting
from odin_lsp.errors import OdinError
from odin_lsp.host import place
from odin_lsp.host.connection import Connection
from odin_lsp.host.reading import read
from odin_lsp.host.remote import PATIENCE, PROTOCOL, written
from odin_lsp.host.terms import own_terms
from odin_lsp.messages import Image, ToolResult
from odin_lsp.ports import Decision, Question, Review

PATHS = ("file_path", "new_path", "path")
"""Arguments that name a file or a folder."""
GLOBS = ("glob", "exclude")
"""Those that do not begin at a path of their own."""
SEARCHES = ("Glob", "Grep")
"""They look everywhere, unless they are told where."""


async def attached(folder: Path, agent: str, ask: Ask | None, conversation: str) -> "Attached | None":
    """To the Odin that has this folder open, or the nearest one around it; `None` if there is none. `OdinError` says
    why that does not want to."""
    found = await asyncio.to_thread(place.nearest, folder)
    if found is None:
        return None
    connected, root = found
    connection = await Connection.over(connected)
    can_ask = ask is not None
    odin = {"version": PROTOCOL, "agent": True, "question": can_ask, "review": can_ask}
    params = {
        "processId": os.getpid(),
        "clientInfo": {"name": agent},
        "rootUri": folder.as_uri(),
        "capabilities": {"experimental": {"odin": odin}},
        "initializationOptions": own_terms({}, {}),
    }
    try:
        async with asyncio.timeout(PATIENCE):
            said = await connection.ask("initialize", params)
    except OdinError:
        await connection.close()
        raise
    except TimeoutError:
        await connection.close()
        raise OdinError(f"it does not answer within {PATIENCE:.0f} s") from None
    connection.tell("initialized", {})
    is_whole = said["capabilities"]["experimental"]["odin"]["roots"] == [str(folder)]
    return Attached(connection, agent, ask, conversation, folder, None if is_whole else root)


class Attached:
    def __init__(
        self, connection: Connection, agent: str, ask: Ask | None, conversation: str, folder: Path, root: Path | None
    ) -> None:
        """`folder`: where the agent works. `root`: the folder that it is, or is below; `None` if there is no other."""
        self._connection = connection
        self._agent = agent
        self._conversation = conversation
        self._root = root
        self._folder = folder
        self._eliciting = Eliciting(ask, self._decide) if ask else None
        connection.answer = self._answer

    @property
    def is_lost(self) -> bool:
        return self._connection.is_lost

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        given = _in_folder(tool, arguments, self._folder, self._root) if self._root else dict(arguments)
        said = await self._connection.execute(
            "odin.agent.call",
            calls_back=True,
            agent=self._agent,
            tool=tool,
            arguments=given,
            conversation=self._conversation or None,
        )
        images = tuple(Image(it["mediaType"], it["data"]) for it in said.get("images", ()))
        return ToolResult(said["turnId"], tool, said["text"], failed=said["failed"], attached=images)

    async def close(self) -> None:
        await self._connection.close()

    async def _answer(self, method: str, params: Any) -> Any:
        match method:
            case "odin/question" if self._eliciting:
                return written(await self._eliciting.ask(read(Question, params)))
            case "odin/review" if self._eliciting:
                return written(await self._eliciting.review(read(Review, params)))
            case _:
                return None

    async def _decide(self, decision: Decision) -> None:
        verb, hunk_ids = decision.decision, [decision.hunk_id]
        await self._connection.execute(f"odin.review.{verb}", hunkIds=hunk_ids, reason=decision.reason)


def _in_folder(tool: str, arguments: Mapping[str, Any], folder: Path, root: Path) -> dict[str, Any]:
    """What the agent means, said in full: it does not know of the larger workspace around its folder."""
    meant = {"path": str(folder)} if tool in SEARCHES else {}
    meant |= arguments
    for name in PATHS:
        if isinstance(path := meant.get(name), str):
            meant[name] = str(folder / path)
    for name in GLOBS if tool == "ReplaceInFiles" and folder != root else ():
        if isinstance(pattern := meant.get(name), str):
            meant[name] = f"{glob.escape(folder.relative_to(root).as_posix())}/{pattern}"
    return meant
