"""What a message stands for that begins with a slash: a command that somebody has written, or a skill."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from odin_lsp.agent import mcp_words, symbol_words
from odin_lsp.agent.context import gathered
from odin_lsp.agent.errands import NO_COMMANDS, output_of_command
from odin_lsp.agent.planner import Planner
from odin_lsp.agent.prompt import prompt_text
from odin_lsp.agent.quoting import quoted
from odin_lsp.errors import RequestError, ToolError
from odin_lsp.extensions.builtin_commands import BUILTIN
from odin_lsp.extensions.custom_commands import MAX_FILES, CustomCommand, Include, Run
from odin_lsp.extensions.registry import Extensions
from odin_lsp.extensions.skills import Skill, told_in
from odin_lsp.messages import Message, Text, ToolResult
from odin_lsp.records import ContextItem
from odin_lsp.workspace.files import Files

_SLASH = re.compile(r"/(?P<name>[\w-]+(?::[\w-]+)*)(?:\s+(?P<arguments>.*))?\Z", re.DOTALL)


def named(text: str) -> tuple[str, str] | None:
    """The name that a message begins with, and what follows it; a path is no name."""
    found = _SLASH.match(text.strip())
    return (found["name"], (found["arguments"] or "").strip()) if found else None


async def meaning(text: str, extensions: Extensions, planner: Planner) -> tuple[str, ...]:
    """What the model is told beside the user's words; nothing, if they are just words."""
    context = planner.executor.context
    servers = context.mcp
    mentioned = tuple(await mcp_words.resources(text, servers)) if servers else ()
    mentioned += tuple(await symbol_words.definitions(text, context.files, context.search))
    found = named(text)
    if found is None:
        return mentioned
    name, arguments = found
    if servers and (said := await mcp_words.prompt(name, arguments, servers)):
        return (*mentioned, *said)
    skill = extensions.skills.get(name)
    command = extensions.commands.get(name) or _own(name)
    if command is not None:
        return (
            *mentioned,
            quoted("command", {"name": f"/{name}"}, await _filled(command, arguments, planner)),
        )
    if skill is not None and skill.for_user:
        return (*mentioned, skill.told)
    return mentioned


def told_skills(skills: Mapping[str, Skill], messages: Sequence[Message]) -> list[str]:
    """Those that the conversation has taken up, as they are now."""
    parts = (part for message in messages for part in message.parts)
    texts = (it.text if isinstance(it, Text) else it.content for it in parts if isinstance(it, Text | ToolResult))
    used = told_in(texts)
    return [skill.told for name, skill in skills.items() if name in used]


def _own(name: str) -> CustomCommand | None:
    own = BUILTIN.get(name)
    return CustomCommand(name, own.description, prompt_text(name)) if own and own.how == "says" else None


async def _filled(command: CustomCommand, arguments: str, planner: Planner) -> str:
    """Its commands run by the same rules as the model's, and its files are read by the same."""
    parts: list[str] = []
    included: dict[Path, ContextItem] = {}
    for part in command.filled(arguments):
        match part:
            case str():
                parts.append(part)
            case Run():
                parts.append(await _printed(part, command, planner))
            case Include(name):
                parts.append(f"@{name}")
                if path := _file(name, command, planner.executor.context.files):
                    included[path] = ContextItem(kind="file", uri=path.as_uri())
    if len(included) > MAX_FILES:
        raise RequestError(f"/{command.name} includes {len(included)} files; at most {MAX_FILES} are taken")
    texts = gathered(list(included.values()), planner.executor.context.files).texts
    return "\n\n".join(("".join(parts), *texts))


def _file(name: str, command: CustomCommand, files: Files) -> Path | None:
    """The file of the workspace that is meant, if there is one: `@types/node` may be something else."""
    try:
        place = files.resolve(name)
    except ToolError:
        return None
    if command.source is not None and place.path == command.source.resolve():
        raise RequestError(f"/{command.name} includes itself, by @{name} in {place.path}; take that out")
    return place.path if place.inside and place.path.is_file() else None


async def _printed(run: Run, command: CustomCommand, planner: Planner) -> str:
    result = await output_of_command(run.command, planner)
    if result is None:
        raise RequestError(f"/{command.name} wants to run `{run.command}`. {NO_COMMANDS}")
    return result.content
