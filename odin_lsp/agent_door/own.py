"""Calls of an agent of others where no Odin runs: files are read and changed on disk, and the agent asks its user."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from odin_lsp.agent.agent_calls import message_of, name_of, result_of
from odin_lsp.agent.core import Core
from odin_lsp.agent_door.eliciting import Ask, Eliciting
from odin_lsp.library.disk_editor import DiskEditor
from odin_lsp.messages import ToolResult
from odin_lsp.ports import NO_REVIEWER, Answer, Decision, Question, Review, ReviewAnswer, decide_all
from odin_lsp.project.project import Project, Told

NOBODY = (
    f"{NO_REVIEWER}: this agent does not show Odin's questions (MCP elicitation); ask the user to open this folder in"
    " an editor with Odin, and then make the call again, or show the change in your answer"
)


class _Person(DiskEditor):
    takes_its_time = True

    def __init__(self, eliciting: Eliciting | None) -> None:
        self._eliciting = eliciting

    async def ask(self, question: Question) -> Answer | None:
        return await self._eliciting.ask(question) if self._eliciting else None

    async def review(self, review: Review) -> ReviewAnswer | None:
        return await self._eliciting.review(review) if self._eliciting else decide_all(review, "reject", NOBODY)


class OwnWorkspace:
    def __init__(self, project: Project, agent: str, ask: Ask | None) -> None:
        editor = _Person(Eliciting(ask, self._decide) if ask else None)
        self._core = Core(project, editor)
        self._agent = name_of(agent)
        self._live = self._core.sessions.begin(self._agent)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        return await result_of(self._live, message_of(self._agent, tool, arguments))

    async def close(self) -> None:
        await self._core.close()

    async def _decide(self, decision: Decision) -> None:
        await self._core.desk.decide([decision])


def project_of(folder: Path) -> Project:
    """In a thread: its settings are read."""
    return Project(Told(roots=(folder,), extensions=False), can_pick=False)
