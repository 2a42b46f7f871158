"""Commands that users write for themselves: `/name words` stands for the text of a file."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from odin_lsp.extensions.front_matter import Misunderstood, parse
from odin_lsp.extensions.places import MAX_BYTES, Brought

_NAME = re.compile(r"[\w-]{1,64}(?::[\w-]{1,64}){0,2}")
_WORD = re.compile(r"\$(?:ARGUMENTS(?:\[(?P<index>\d{1,2})\])?|(?P<number>[1-9]\d?))(?!\w)")
_SHELL = re.compile(r"(?<![\w`])!`(?P<command>[^`\n]+)`")
_PLACE = r"\$(?:ARGUMENTS|[1-9])"
_PART = re.compile(rf"{_SHELL.pattern}|(?<![\w@`])@(?P<path>(?:[\w.~/-]|{_PLACE})*(?:[\w/]|{_PLACE}))")
MAX_SHELL = 10
"""Commands of one text."""
MAX_FILES = 20
"""The same of files."""


@dataclass(frozen=True, slots=True)
class Run:
    """A part of a text: what this command prints."""

    command: str


@dataclass(frozen=True, slots=True)
class Include:
    """A part of a text: `@path`, and what is in that file, if it is one."""

    path: str


@dataclass(frozen=True, slots=True)
class CustomCommand:
    name: str
    description: str
    body: str
    argument_hint: str = ""
    source: Path | None = None
    """None: it is Odin's own."""

    @property
    def shell_commands(self) -> tuple[str, ...]:
        """What it runs, before the words of the user are in it."""
        return tuple(found["command"].strip() for found in _SHELL.finditer(self.body))

    def filled(self, arguments: str) -> list[str | Run | Include]:
        """Its text with what the user said in its place; at the end, if there is none. What the user said makes no
        command that the text does not have, and names no file."""
        words = _split(arguments)

        def fill(text: str) -> str:
            return _WORD.sub(lambda found: _word(found, arguments, words), text)

        parts: list[str | Run | Include] = []
        end = 0
        for found in _PART.finditer(self.body):
            part = Run(fill(found["command"]).strip()) if found["command"] else Include(fill(found["path"]))
            parts += [fill(self.body[end : found.start()]), part]
            end = found.end()
        parts.append(fill(self.body[end:]))
        has_place = _WORD.search(self.body) is not None
        return parts if has_place or not arguments else [*parts, f"\n\n{arguments}"]


def command_of(file: Brought) -> CustomCommand:
    """Raises `Misunderstood`."""
    if file.is_cut:
        raise Misunderstood(f"it is longer than {MAX_BYTES // 1024} KiB")
    if not _NAME.fullmatch(file.name):
        raise Misunderstood("its name must be letters, digits, `-` and `_`")
    note = parse(file.content)
    if not note.body:
        raise Misunderstood("it has no text")
    if len(_SHELL.findall(note.body)) > MAX_SHELL:
        raise Misunderstood(f"it runs more than {MAX_SHELL} commands")
    description = note.text("description") or note.body.partition("\n")[0].lstrip("# ")[:100]
    return CustomCommand(file.name, description, note.body, note.text("argument-hint"), file.path)


def _word(found: re.Match[str], arguments: str, words: Sequence[str]) -> str:
    if not found["number"] and not found["index"]:
        return arguments
    at = int(found["number"]) - 1 if found["number"] else int(found["index"])
    return words[at] if at < len(words) else ""


def _split(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:  # an apostrophe
        return arguments.split()
