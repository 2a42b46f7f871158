"""The commands that Odin has itself, `/name words`: one table for all front ends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from odin_lsp.modes import MODES, Mode

How = Literal["answer", "says", "mode", "session", "person"]
"""Who does it: Odin, and its words are the answer; the model, which is told what to do; the model, in another mode;
Odin, apart from turns, since it changes the session itself; only a person, in a dialog of the front end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinCommand:
    name: str
    description: str
    hint: str = ""
    """What may follow the name."""
    how: How = "answer"
    command: str | None = None
    """The command of the protocol that does the same."""
    mode: Mode | None = None
    """In which it is done, whatever mode the message has."""


def _mode(name: str, description: str, hint: str) -> BuiltinCommand:
    return BuiltinCommand(
        name=name, description=description, hint=hint, how="mode", command=f"odin.{name}", mode=MODES[name]
    )


BUILTIN: Mapping[str, BuiltinCommand] = {
    it.name: it
    for it in (
        BuiltinCommand(name="help", description="List all commands", command="odin.slashCommands"),
        _mode("ask", "Ask about the code; nothing is changed", "question"),
        _mode("plan", "Plan a change; nothing is changed", "what to plan"),
        _mode("edit", "Change the code", "what to change"),
        BuiltinCommand(
            name="review",
            description="Review the changes that are not committed, or what you name",
            hint="[what]",
            how="says",
            mode="ask_mode",
        ),
        BuiltinCommand(
            name="init",
            description="Write the project's ODIN.md",
            how="says",
            command="odin.init",
            mode="edit_mode",
        ),
        BuiltinCommand(
            name="new", description="Start a new session", hint="[title]", how="session", command="odin.session.new"
        ),
        BuiltinCommand(
            name="resume",
            description="Continue another session, or list the last ones",
            hint="[session id]",
            how="session",
            command="odin.session.resume",
        ),
        BuiltinCommand(
            name="continue",
            description="Continue the last turn where it was cut off",
            how="session",
            command="odin.continue",
        ),
        BuiltinCommand(
            name="clear",
            description="Delete all messages and todos of this session",
            how="session",
            command="odin.clear",
        ),
        BuiltinCommand(
            name="compact",
            description="Compact the session: replace old messages by a summary",
            hint="[what to keep above all]",
            command="odin.compact",
        ),
        BuiltinCommand(
            name="undo",
            description="Undo the edits of the last turn, or bring them back",
            hint="[turn or undo id]",
            command="odin.undoTurn",
        ),
        BuiltinCommand(
            name="export",
            description="Write the session to a file",
            hint="[markdown|html|json] [file]",
            command="odin.session.export",
        ),
        BuiltinCommand(
            name="model",
            description="Select a model, or list them",
            hint="[provider/model[@effort]]",
            command="odin.model",
        ),
        BuiltinCommand(name="role", description="Select a role, or list them", hint="[name]", command="odin.role"),
        BuiltinCommand(
            name="context",
            description="Show what the next message would send, in tokens",
            hint="[exact]",
            command="odin.context",
        ),
        BuiltinCommand(name="cost", description="Show what this session has used", command="odin.state"),
        BuiltinCommand(name="permissions", description="List saved approvals", command="odin.permissions"),
        BuiltinCommand(
            name="extensions",
            description="List skills, commands, subagents, hooks and MCP servers",
            command="odin.extensions",
        ),
        BuiltinCommand(
            name="trust",
            description="Trust the settings and extensions of this folder, in their current version",
            how="person",
            command="odin.trust",
        ),
    )
}


def is_taken(name: str) -> bool:
    """Whether nobody else can have the name: what only tells the model what to do may be told otherwise."""
    return name in BUILTIN and BUILTIN[name].how != "says"
