"""What a message stands for that begins with a slash: a command that somebody has written, or a skill."""

import re
from collections.abc import Mapping, Sequence

from odin_lsp.agent.errands import NO_COMMANDS, output_of_command
from odin_lsp.agent.planner import Planner
from odin_lsp.agent.quoting import quoted
from odin_lsp.errors import RequestError
from odin_lsp.extensions.custom_commands import CustomCommand, Run
from odin_lsp.extensions.registry import Extensions
from odin_lsp.extensions.skills import Skill, told_in
from odin_lsp.messages import Message, Text, ToolResult

_SLASH = re.compile(r"/(?P<name>[\w-]+(?::[\w-]+)*)(?:\s+(?P<arguments>.*))?\Z", re.DOTALL)


async def meaning(text: str, extensions: Extensions, planner: Planner) -> tuple[str, ...]:
    """What the model is told beside the user's words; nothing, if they are just words."""
    found = _SLASH.match(text.strip())
    if not found:
        return ()
    name, arguments = found["name"], (found["arguments"] or "").strip()
    skill = extensions.skills.get(name)
    command = extensions.commands.get(name)
    if command is not None:
        return (quoted("command", {"name": f"/{name}"}, await _filled(command, arguments, planner)),)
    if skill is not None and skill.for_user:
        return (skill.told,)
    return ()


def told_skills(skills: Mapping[str, Skill], messages: Sequence[Message]) -> list[str]:
    """Those that the conversation has taken up, as they are now."""
    parts = (part for message in messages for part in message.parts)
    texts = (it.text if isinstance(it, Text) else it.content for it in parts if isinstance(it, Text | ToolResult))
    used = told_in(texts)
    return [skill.told for name, skill in skills.items() if name in used]


async def _filled(command: CustomCommand, arguments: str, planner: Planner) -> str:
    """Its commands run by the same rules as the model's."""
    parts: list[str] = []
    for part in command.filled(arguments):
        if isinstance(part, str):
            parts.append(part)
            continue
        parts.append(await _printed(part, command, planner))
    return "".join(parts)


async def _printed(run: Run, command: CustomCommand, planner: Planner) -> str:
    result = await output_of_command(run.command, planner)
    if result is None:
        raise RequestError(f"/{command.name} wants to run `{run.command}`. {NO_COMMANDS}")
    return result.content
