"""What a person is told who begins to work in a folder: what is wrong there, and what the folder brings."""

from dataclasses import dataclass

from odin_lsp import state_folder
from odin_lsp.config import problems_told
from odin_lsp.ports import Level
from odin_lsp.project.project import Project
from odin_lsp.values import Value

WAY = "None of this is used until you agree: odin-lsp permissions trust"


@dataclass(frozen=True, slots=True)
class OpeningNotice(Value):
    level: Level
    message: str


def opening_notices(project: Project) -> list[OpeningNotice]:
    """Read files, so beside the loop."""
    state = state_folder.problem()
    wrong = [*problems_told(project.now.problems), *([state] if state else [])]
    brought = "\n".join(_undecided(project))
    return [*(OpeningNotice("warning", it) for it in wrong), *([OpeningNotice("info", brought)] if brought else [])]


def _undecided(project: Project) -> list[str]:
    if project.now.standing == "restricted" or project.now.is_plain:
        return []
    from odin_lsp.permissions.trust import told  # the server starts without it

    undecided = project.brought().undecided
    return ["This folder brings:", *told(undecided), WAY] if undecided else []
