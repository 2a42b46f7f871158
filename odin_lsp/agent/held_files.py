"""What the model is told of the files that it has seen: which these are, and which are no longer as it saw them."""

import time
from collections.abc import Callable, Container, Sequence
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


def _nothing() -> Container[Path]:
    return ()


@dataclass(slots=True)
class HeldFiles:
    """One turn's view of them."""

    files: Files
    shown: Shown
    drafted: Callable[[], Container[Path]] = _nothing
    """Files that have edits which nobody has reviewed: what the model knows of them is not there yet."""
    _listed: set[Path] = field(default_factory=set[Path])

    def listed(self, messages: Sequence[Message]) -> list[str]:
        """A line for each file of which the messages do not say it already, the last ones seen."""
        self.shown.compare(self.files, self.drafted())
        held = dict(self.files.held())
        self._listed = {path for path, file in self.shown if file.is_outdated}
        earlier = "\n".join(message.text for message in messages if SEEN in message.text)
        lines = [f"- {printable(str(path))} ({_about(file, held.get(path))})" for path, file in self.shown]
        new = [line for line in lines if line not in earlier][-MAX_TOLD:]
        return [SEEN, *new] if new else []

    def changed(self) -> list[str]:
        """What others have changed since the last time, and since the list."""
        new = [it for it in self.shown.newly_outdated(self.files, self.drafted()) if it not in self._listed]
        self._listed.clear()
        more = [f"- and {len(new) - MAX_TOLD} more"] if len(new) > MAX_TOLD else []
        return [CHANGED, *(f"- {printable(str(path))}" for path in new[:MAX_TOLD]), *more] if new else []


def _about(file: ShownFile, held: CachedFile | None) -> str:
    facts = [
        f"{held.size if held else file.size} bytes",
        "" if file.is_whole else "parts of it",
        f"seen {time.strftime('%H:%M:%S', time.localtime(file.at))}",
        "modified by you" if held and held.is_modified else "",
        "changed by others since" if file.is_outdated else "",
    ]
    return ", ".join(filter(None, facts))
