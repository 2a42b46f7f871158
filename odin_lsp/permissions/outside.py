"""Paths outside of the workspace folders: the user decides, and is shown where a path really leads."""

import uuid
from pathlib import Path

from odin_lsp.errors import PermissionDenied
from odin_lsp.ports import Asker, Option, Question
from odin_lsp.workspace.files import vouches
from odin_lsp.workspace.uris import printable

OPTIONS = (
    Option("allow_once", "Allow once"),
    Option("allow_session", "Allow this folder in this session"),
    Option("deny", "Deny"),
)


class OutsideGate:
    """One session's; what was allowed ends with it."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._folders: set[Path] = set()

    def admit(self, folder: Path) -> None:
        """A folder of Odin's own, about which nobody needs to be asked."""
        self._folders.add(folder)

    async def allow(self, path: Path, name: str) -> None:
        """`path` is canonical, `name` what the model wrote. No answer is a no."""
        if any(path.is_relative_to(folder) for folder in self._folders):
            return
        written = "" if name == str(path) else f" (written as {printable(name)})"
        question = Question(
            question_id=uuid.uuid4().hex,
            kind="outside",
            title=f"May Odin look at {printable(str(path))}?",
            detail=f"It is outside of the workspace folders{written}.",
            paths=(str(path),),
            options=OPTIONS,
        )
        answer = await self._asker.ask(question)
        match answer.option_ids if answer else ():
            case ("allow_once",):
                return
            case ("allow_session",):
                folder = _folder_of(path)
                if vouches(folder):
                    self._folders.add(folder)
            case _:
                raise PermissionDenied(
                    f"{printable(str(path))} is outside the workspace folders, and the user did not allow it; go on"
                    " with what is inside, or say why it is needed"
                )


def _folder_of(path: Path) -> Path:
    return path if path.is_dir() else path.parent
