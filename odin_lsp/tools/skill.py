"""Take up a skill: a text that says how a kind of work is done."""

from contextlib import suppress

from odin_lsp.errors import ToolError
from odin_lsp.permissions.rules import Effect
from odin_lsp.tools.base import Params, Tool, ToolContext, ToolOutput
from odin_lsp.workspace.opening import entries

MAX_FILES = 50


class SkillParams(Params):
    name: str


class SkillTool(Tool[SkillParams]):
    """Read a skill that is listed: how a kind of work is done here. Its other files can be read when they are
    needed."""

    name = "Skill"
    effect = Effect.READ_ONLY
    params = SkillParams

    def describe(self, params: SkillParams) -> str:
        return f"use the skill {params.name}"

    async def execute(self, params: SkillParams, context: ToolContext) -> ToolOutput:
        skill = context.skills.get(params.name)
        if skill is None or not skill.for_model:
            known = ", ".join(name for name, it in context.skills.items() if it.for_model) or "none"
            raise ToolError(f"there is no skill {params.name!r}; there are: {known}")
        context.outside.admit(skill.folder)
        beside: list[str] = []
        with suppress(ToolError):
            beside = [f"{name}/" if is_folder else name for name, is_folder in entries(skill.folder, MAX_FILES + 1)]
        others = [name for name in beside if name != "SKILL.md"]
        files = f"\nBeside it: {', '.join(others[:MAX_FILES])}" if others else ""
        return ToolOutput(data=f"{skill.told}{files}", description=f"skill {skill.name}")
