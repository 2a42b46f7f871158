"""Skills, as agentskills.io has them: a folder with a SKILL.md, of which the model knows name and purpose until it uses
it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.extensions.front_matter import Misunderstood, parse
from odin_lsp.extensions.places import MAX_BYTES, Brought

_NAME = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
_TOLD = re.compile(r'<skill name="([a-z0-9-]+)" folder="')
_TAG = re.compile(r"<(?=/?skill\b)", re.IGNORECASE)
OTHER = "‹"
"""In the place of what begins a tag: no skill ends before its end."""
MAX_DESCRIPTION = 1024


@dataclass(frozen=True, slots=True)
class Skill:
    name: str
    description: str
    body: str
    folder: Path
    """Where its other files are."""
    allowed_tools: tuple[str, ...] = ()
    """Nothing else is used while it is; empty: whatever there is."""
    for_model: bool = True
    """Whether the model may take it up by itself."""
    for_user: bool = True
    argument_hint: str = ""

    def __str__(self) -> str:
        return f"- {self.name}: {self.description}"

    @property
    def told(self) -> str:
        """As the model gets it."""
        only = f"\n(It is meant to use {', '.join(self.allowed_tools)} only.)" if self.allowed_tools else ""
        return f'<skill name="{self.name}" folder="{self.folder}">\n{_TAG.sub(OTHER, self.body)}{only}\n</skill>'


def told_in(texts: Iterable[str]) -> set[str]:
    """The names of skills that stand in these texts."""
    return {name for text in texts for name in _TOLD.findall(text)}


def skill_of(file: Brought) -> Skill:
    """Raises `Misunderstood`."""
    if file.is_cut:
        raise Misunderstood(f"it is longer than {MAX_BYTES // 1024} KiB; put details into files beside it")
    note = parse(file.content)
    name, description = note.text("name") or file.name, note.text("description")
    if not _NAME.fullmatch(name):
        raise Misunderstood(f"`name` {name!r} must be small letters, digits and single hyphens, at most 64")
    if name != file.name:
        raise Misunderstood(f"`name` is {name!r}, but its folder is called {file.name!r}; both must be the same")
    if not description:
        raise Misunderstood("`description` is missing: it says when to use the skill")
    return Skill(
        name,
        description[:MAX_DESCRIPTION],
        note.body,
        file.path.parent,
        note.words("allowed-tools"),
        for_model=not note.is_on("disable-model-invocation"),
        for_user=note.text("user-invocable") != "false",
        argument_hint=note.text("argument-hint"),
    )
