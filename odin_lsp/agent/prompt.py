"""What the model is told: a stable prefix that providers can cache, and reminders that are only ever appended."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path

from odin_lsp.agent.history import Conversation
from odin_lsp.errors import ToolError
from odin_lsp.events import Mode
from odin_lsp.web.untrusted import visible
from odin_lsp.workspace.opening import opened_file
from odin_lsp.workspace.shown import Shown, ShownFile
from odin_lsp.workspace.uris import printable

INSTRUCTION_FILES = ("ODIN.md", "AGENTS.md", "CLAUDE.md")
MAX_INSTRUCTIONS = 32 * 1024
MAX_SHOWN_FILES = 30


@dataclass(frozen=True, slots=True)
class Instructions:
    """What the project's own file says, as it was when the session began."""

    path: Path | None = None
    text: str = ""

    @classmethod
    def load(cls, roots: Sequence[Path]) -> "Instructions":
        for path in (root / name for root in roots[:1] for name in INSTRUCTION_FILES):
            with suppress(OSError, RuntimeError, ToolError):
                return cls(path, _instructions(path))
        return cls()


@dataclass(slots=True)
class Prompt:
    mode: Mode
    roots: Sequence[Path]
    instructions: Instructions
    shown: Shown
    _reminded: str = field(default="")

    @property
    def system(self) -> tuple[str, ...]:
        places = "\n".join(f"Workspace: {root}" for root in self.roots) or "No folder is open."
        blocks = [f"{prompt_text('system')}\n{prompt_text(self.mode)}\nMode: {self.mode}\n{places}"]
        if self.instructions.text:
            name = self.instructions.path.name if self.instructions.path else ""
            blocks.append(f'<instructions file="{name}">\n{self.instructions.text}\n</instructions>')
        return tuple(blocks)

    def opening(self, session: Conversation) -> str:
        """What has changed outside of the conversation, at the start of a turn."""
        lines = [f"Today is {time.strftime('%A, %Y-%m-%d')}.", *self._seen(), *_todos(session)]
        return _reminder(lines)

    def reminder(self, session: Conversation) -> str:
        """The open todos, when they differ from what the model was last reminded of."""
        lines = _todos(session)
        text = _reminder(lines) if lines else ""
        if text == self._reminded:
            return ""
        self._reminded = text
        return text

    def _seen(self) -> list[str]:
        files = list(self.shown)[-MAX_SHOWN_FILES:]
        if not files:
            return []
        return [
            "Files you have seen in this session; read them again only where you need text that is not above:",
            *(f"- {printable(str(path))} ({_about(file)})" for path, file in files),
        ]


def _instructions(path: Path) -> str:
    """A link may lead to another Markdown file beside or below it, and nowhere else: whoever made the repository would
    choose what of the user's is sent to a model. What people cannot see is left out."""
    real = path.resolve()
    if real.suffix != ".md" or not real.is_relative_to(path.parent.resolve()):
        raise ToolError(f"{path} leads elsewhere")
    with opened_file(real) as (file, _):
        return visible(file.read(MAX_INSTRUCTIONS).decode("utf-8", "replace"))[0]


def _about(file: ShownFile) -> str:
    parts = "" if file.is_whole else ", parts of it"
    return f"{file.size} bytes{parts}, seen {time.strftime('%H:%M:%S', time.localtime(file.at))}"


def _todos(session: Conversation) -> list[str]:
    if not any(todo.status != "completed" for todo in session.todos):
        return []
    return ["Your todo list:", *(f"- [{todo.status}] {todo.content} (id {todo.id})" for todo in session.todos)]


def _reminder(lines: list[str]) -> str:
    return "<reminder>\n" + "\n".join(lines) + "\n</reminder>"


@cache
def prompt_text(name: str) -> str:
    return resources.files("odin_lsp.agent").joinpath(f"prompts/{name}.md").read_text(encoding="utf-8").strip()
