"""What a folder brings, and what each thing of it is known by: a digest of all that decides what it does, made of the
values that are used later."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from odin_lsp.values import Value

MAX_WORDS = 10_000
"""Characters of a command line that a folder brings: nobody could judge a longer one."""
MAX_SHOWN = 2_000
"""Characters of what it does, in the list of what a folder brings."""

BroughtKind = Literal["hook", "server", "languageServer", "command", "agent", "skill", "setting"]
RUNS = ("hook", "server", "languageServer")
"""Programs and servers: each is agreed to by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtItem(Value):
    """A thing that a folder brings and that has no effect before the user has agreed to it."""

    id: str
    """The digest of all that decides what it does. Agreed to is this, and nothing else of the same name."""
    kind: BroughtKind
    name: str
    what: str
    """What it does, in a line."""
    program: str | None = None
    """The command line that it runs, with arguments."""
    address: str | None = None
    """Where it connects to."""
    variables: tuple[str, ...] = ()
    """Names of the variables of your environment that it is given."""
    file: str
    """The file that brings it, below the folder."""
    includes: tuple[str, ...] = ()
    """Files of the folder that its command names. They belong to it by their content; what they load does not."""
    state: Literal["new", "changed", "agreed", "refused"] = "new"

    @property
    def runs(self) -> bool:
        """Whether it is agreed to by itself, and not with the folder."""
        return self.kind in RUNS


def identify(kind: BroughtKind, description: object, files: Mapping[str, str]) -> str:
    """Return the digest of a description and of the files that belong to it. It is a whole one: whoever brings two
    things could otherwise look for two that have the same."""
    said = json.dumps([kind, description, files], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def shortened(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}… ({len(text) - MAX_SHOWN:,} characters more)"
