"""What the model is told of the files that it has seen: which these are, and which are no longer as it saw them."""

import time
from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from odin_lsp.messages import Message
from odin_lsp.workspace.cache import CachedFile
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.shown import Shown, ShownFile
from odin_lsp.workspace.uris import printable

MAX_TOLD = 30
SEEN = "Files seen in this session; reread them only for text that is not above, or has changed:"
CHANGED = "Others have changed files since you read them; before you rely on these, read them again:"


def _nothing() -> tuple[()]:
    return ()


@dataclass(slots=True)
class HeldFiles:
    """One turn's view of them."""

    files: Files
    shown: Shown
    drafted: Callable[[], Container[Path]] = _nothing
    """Files that have edits which nobody has reviewed: what the model knows of them is not there yet."""
    edited: Callable[[], Collection[str]] = _nothing
    """Files that this conversation has edited; that others have done so too, the cache does not tell apart."""
    _listed: set[Path] = field(default_factory=set[Path])

    async def listed(self, messages: Sequence[Message]) -> list[str]:
        """A line for each file of which the messages do not say it already, the last ones seen."""
        await self.shown.compare(self.files, self.drafted())
        shown = dict(self.shown)
        held = {path: self.files.cache.peek(path) for path in shown}
        stamps = await self.files.stamps(path for path, file in held.items() if file is not None)
        self._listed = {path for path, file in shown.items() if file.is_outdated}
        earlier = {line for message in messages if SEEN in message.text for line in message.text.splitlines()}
        now = {path: self.files.held_as(path, stamp, held[path]) for path, stamp in stamps.items()}
        edited = set(self.edited())
        lines = [
            f"- {printable(str(path))} ({_about(file, now.get(path), is_edited=str(path) in edited)})"
            for path, file in shown.items()
        ]
        new = [line for line in lines if line not in earlier][-MAX_TOLD:]
        return [SEEN, *new] if new else []

    async def changed(self) -> list[str]:
        """What others have changed since the last time, and since the list."""
        found = await self.shown.newly_outdated(self.files, self.drafted())
        new = [it for it in found if it not in self._listed]
        self._listed.clear()
        more = [f"- and {len(new) - MAX_TOLD} more"] if len(new) > MAX_TOLD else []
        return [CHANGED, *(f"- {printable(str(path))}" for path in new[:MAX_TOLD]), *more] if new else []


def _about(file: ShownFile, held: CachedFile | None, *, is_edited: bool) -> str:
    facts = [
        f"{held.size if held else file.size} bytes",
        "" if file.is_whole else "parts of it",
        f"seen {time.strftime('%H:%M:%S', time.localtime(file.at))}",
        "modified by you" if is_edited and held and held.is_modified else "",
        "changed by others since" if file.is_outdated else "",
    ]
    return ", ".join(filter(None, facts))
