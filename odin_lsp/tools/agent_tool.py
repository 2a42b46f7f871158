"""Give a part of the work to a subagent with a conversation of its own."""

from typing import Literal

from odin_lsp.errors import ToolError
from odin_lsp.modes import MODES
from odin_lsp.permissions.rules import Effect
from odin_lsp.permissions.subagent_rights import is_within
from odin_lsp.sessions.helpers import ENDED, STARTED
from odin_lsp.tools.base import AgentTask, Completion, NonEmpty, Params, Tool, ToolContext, ToolOutput

HEADINGS = {
    "files_changed": "Files changed",
    "verification_run": "Commands run",
    "remaining_limitations": "Not done",
    "known_risks": "Risks",
    "follow_up_recommended": "To do next",
    "artifacts": "Further output",
}


BEGUN = f"{STARTED} Continue with other work; you get its report when it is done."


class AgentParams(Params):
    description: NonEmpty
    """A few words, for the user."""
    prompt: NonEmpty
    """The whole task: the subagent does not see this conversation. Say what to report."""
    mode: Literal["ask", "plan", "edit"] = "ask"
    """What it may do; never more than you."""
    agent: str | None = None
    """A named subagent of this project."""
    model: str | None = None
    """`provider/model[@effort]`. Default: the small model; in edit mode the user's."""
    write_scope: tuple[str, ...] = ()
    """Files and folders that it may edit. Left out: all."""
    run_in_background: bool = False
    """Return at once; its report comes later."""


class AgentTool(Tool[AgentParams]):
    """Start a subagent that works on its own and reports once: for searches over many files, or independent parts of a
    larger task. Calls made together run in parallel. It cannot ask you anything."""

    name = "AgentTool"
    effect = Effect.DELEGATE
    params = AgentParams
    main_only = True

    def describe(self, params: AgentParams) -> str:
        return params.description

    async def execute(self, params: AgentParams, context: ToolContext) -> ToolOutput:
        mode = MODES[params.mode]
        if not is_within(mode, context.mode):
            raise ToolError(
                f"a subagent cannot be in {params.mode} mode here: it may never do more than you; set mode to ask"
            )
        if context.delegate is None or context.begin is None:
            raise ToolError("subagents start no subagents; do it yourself, or say in your result what is left to do")
        scope = tuple([await context.reach(name) for name in params.write_scope])
        task = AgentTask(params.description, params.prompt, mode, params.agent, params.model, scope, context.call_id)
        if params.run_in_background:
            agent_id = context.begin(task)
            return ToolOutput(data=BEGUN.format(agent_id), description=f"{params.description}: started {agent_id}")
        completion = await context.delegate(task)
        text = report(completion)
        if completion.status != "completed":
            raise ToolError(text)
        return ToolOutput(
            data=text, description=f"{params.description}: done", files=completion.files_changed, added=0, removed=0
        )


def report(completion: Completion) -> str:
    parts = [ENDED.format(completion.agent_id, completion.status), completion.summary.strip()]
    for name, heading in HEADINGS.items():
        items: tuple[str, ...] = getattr(completion, name)
        if items:
            parts.append("\n".join([f"{heading}:", *(f"- {item}" for item in items)]))
    return "\n\n".join(filter(None, parts))
