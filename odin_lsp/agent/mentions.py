"""What a message mentions by `@`, whatever it was typed in: files and folders of the workspace, and `@problems`."""

import asyncio
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from odin_lsp.agent.attaching import is_attachable, named
from odin_lsp.agent.context import all_problems, gathered, looked_up
from odin_lsp.agent.turn import UserMessage
from odin_lsp.errors import PermissionDenied, RequestError, ToolError
from odin_lsp.intelligence.servers import Servers
from odin_lsp.records import ContextItem, SentContext
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.search import Search
from odin_lsp.workspace.uris import path_of

MAX_PLACES = 20
"""Of one message."""
SIGNS = frozenset("@#")
_PROBLEMS = re.compile(r"(?<!\S)(?:@problems|#diagnostics)(?!\w)")


@dataclass
class Mentions:
    files: Files
    search: Search
    servers: Servers
    left_out: list[str] = field(default_factory=list[str])
    """What the user should know of what the model does not get."""

    async def added_to(self, message: UserMessage) -> UserMessage:
        """What the front end has sent along already is not sent again."""
        if not SIGNS.intersection(message.text):
            return message
        known = {(it.kind, _path(it)) for it in message.sent if it.first_line is None}
        items = await asyncio.to_thread(lambda: list(self._places(message.text)))
        if _PROBLEMS.search(message.text):
            items += await all_problems(self.servers)
        for item in items:
            if (item.kind, _path(item)) not in known:
                message = await self._with(message, item)
        return message

    async def _with(self, message: UserMessage, item: ContextItem) -> UserMessage:
        try:
            found = gathered(await looked_up([item], self.servers, self.search), self.files)
        except RequestError as error:
            self.left_out.append(f"{item.uri} was not sent along: {error}")
            return message
        self.left_out += found.left_out
        return replace(message, context=(*message.context, *found.texts), sent=(*message.sent, *found.sent))

    def _places(self, text: str) -> Iterator[ContextItem]:
        """Those that are there; other words with an `@` are just words. Images and PDFs are attached."""
        places = (self._place(name) for name in dict.fromkeys(named(text)) if not is_attachable(Path(name)))
        for number, item in enumerate(filter(None, places)):
            if number == MAX_PLACES:
                self.left_out.append(f"the message mentions more than {MAX_PLACES} files; others were not sent along")
                return
            yield item

    def _place(self, name: str) -> ContextItem | None:
        try:
            place = self.files.resolve(name)
        except PermissionDenied:
            path = Path(self.files.absolute(name))
            return ContextItem(kind="file", uri=path.as_uri()) if path.is_file() else None
        except ToolError:
            return None
        is_folder = name.endswith("/") and place.path.is_dir()
        if not place.inside or not (is_folder or place.path.is_file() or self.files.buffers.of_path(place.path)):
            return None
        return ContextItem(kind="folder" if is_folder else "file", uri=place.path.as_uri())


def _path(it: ContextItem | SentContext) -> Path | None:
    path = path_of(it.uri) if it.uri else None
    return Path(os.path.realpath(path)) if path else None
