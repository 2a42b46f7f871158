"""Tells what is wrong with the settings, and asks for trust where they want more than Odin gives to strangers."""

import uuid
from typing import TYPE_CHECKING

from odin_lsp import config
from odin_lsp.config import ConfigProblem
from odin_lsp.project.project import Situation
from odin_lsp.workspace.uris import printable

if TYPE_CHECKING:
    from odin_lsp.server.host import Work

MAX_PROBLEMS = 20
"""Of which each is shown."""


class SettingsReport:
    def __init__(self, server: "Work") -> None:
        self._server = server
        self._told: tuple[ConfigProblem, ...] = ()

    def tell(self, now: Situation) -> None:
        """What is wrong now, unless it was just as wrong before."""
        if now.problems == self._told:
            return
        self._told = now.problems
        editor = self._server.editor
        for problem in now.problems[:MAX_PROBLEMS]:
            editor.notify("warning", str(problem))
        if (more := len(now.problems) - MAX_PROBLEMS) > 0:
            editor.notify("warning", f"{more:,} more problems with the settings; `odin-lsp doctor` names them")
        if any(problem.needs_trust for problem in now.problems) and not now.is_restricted:
            self._server.background(self._ask_for_trust(now))

    async def _ask_for_trust(self, now: Situation) -> None:
        """No answer leaves it at that, and so does one that was given for something else."""
        from odin_lsp.ports import Option, Question

        root, project = now.root, self._server.project
        if root is None or now.standing == "restricted":
            return
        wanted = [f"- {problem}" for problem in now.problems if problem.needs_trust]
        changed = ["They have changed since you trusted them."] if now.standing == "changed" else []
        question = Question(
            question_id=uuid.uuid4().hex,
            kind="trust",
            title=f"Trust the settings of {printable(str(root))}?",
            detail="\n".join([*changed, *wanted]),
            paths=(str(root / config.FILE_NAME),),
            options=(
                Option("allow_always", "Trust them as they are now"),
                Option("allow_once", "Not now"),
                Option("deny", "Never"),
            ),
        )
        answer = await self._server.core.asker.ask(question)
        match answer.option_ids if answer else ():
            case ("allow_always",) if project.look() == now:
                project.decide_trust(trusted=True)
            case ("deny",) if project.now.root == root:
                project.decide_trust(trusted=False)
            case _:
                return
        await self._server.keep_trust()
