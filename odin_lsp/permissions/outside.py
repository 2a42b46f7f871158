"""Paths outside of the workspace folders: the user decides, and is shown where a path really leads."""

import uuid
from pathlib import Path

from odin_lsp.errors import PermissionDenied
from odin_lsp.ports import Asker, Option, Question
from odin_lsp.workspace.roots import vouches
from odin_lsp.workspace.uris import printable


class OutsideGate:
    """One session's; what was allowed ends with it."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._allowed: set[Path] = set()

    def admit(self, folder: Path) -> None:
        """A folder of Odin's own, about which nobody needs to be asked."""
        self._allowed.add(folder)

    async def allow(self, path: Path, name: str, opened: Path | None = None) -> None:
        """`path` is canonical, `name` what the model wrote, `opened` the workspace folder around it, which vouches for
        nothing, if there is one. No answer is a no."""
        if any(path.is_relative_to(it) for it in self._allowed):
            return
        written = "" if name == str(path) else f" (written as {printable(name)})"
        kind, lasting = _lasting(path)
        for_session = [Option("allow_session", f"Allow this {kind} in this session")] if lasting else []
        question = Question(
            question_id=uuid.uuid4().hex,
            kind="outside",
            title=f"May Odin look at {printable(str(path))}?",
            detail=f"It is {_where(path, opened)}{written}.",
            paths=(str(path),),
            options=(Option("allow_once", "Allow once"), *for_session, Option("deny", "Deny")),
        )
        answer = await self._asker.ask(question)
        match answer.option_ids if answer else ():
            case ("allow_once",):
                return
            case ("allow_session",):
                if lasting:
                    self._allowed.add(lasting)
            case _:
                raise PermissionDenied(
                    f"{printable(str(path))} is {_where(path, opened)}, and the user did not allow it; go on with what"
                    " is allowed, or say why it is needed"
                )


def _where(path: Path, opened: Path | None) -> str:
    if opened is None:
        return "outside of the workspace folders"
    around = "" if path == opened else f"in {printable(str(opened))}, "
    return f"{around}a workspace folder that holds a whole home folder"


def _lasting(path: Path) -> tuple[str, Path | None]:
    """What can be allowed for a session: the folder, unless that is the user's home or above it."""
    if path.is_dir():
        return "folder", path if vouches(path) else None
    return ("folder", path.parent) if vouches(path.parent) else ("file", path)
