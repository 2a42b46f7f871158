"""Asks the user about what a folder brings: the whole list first, then each program and server by itself."""

import asyncio
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

from odin_lsp.brought import BroughtItem
from odin_lsp.errors import RequestError
from odin_lsp.permissions.trust import BroughtList, FileChange, told
from odin_lsp.ports import Option, Question
from odin_lsp.server.host import Work
from odin_lsp.server.surfaces import cut
from odin_lsp.workspace.uris import printable

NO_OTHERS = "none"
ENVIRONMENT = "Commands and language servers may then use programs that are installed in it (.venv, node_modules)."


async def ask_for_trust(server: Work, brought: BroughtList) -> None:
    """No answer leaves it at that, and so does one that was given for something else."""
    project = server.project
    root, is_changed = project.now.root, project.now.standing == "changed"
    if root is None:
        return
    changes = await asyncio.to_thread(project.changes_since_trust)
    answer = await server.core.asker.ask(_about_folder(root, brought, changes, is_changed=is_changed))
    match answer.option_ids if answer else ():
        case ("allow_always",):
            agreed = await _agreed_to(server, root, [it for it in brought.items if it.runs])
            try:
                project.decide_trust(trusted=True, items=agreed, digest=brought.digest)
            except RequestError as error:
                server.editor.notify("warning", f"{printable(str(root))} is not trusted: {error}")
                return
        case ("deny",) if project.now.root == root:
            project.decide_trust(trusted=False)
        case _:
            return
    await server.keep_trust()


async def _agreed_to(server: Work, root: Path, items: Sequence[BroughtItem]) -> list[str]:
    """Ask about each program and server by itself: no answer is a no."""
    agreed: list[str] = []
    for number, it in enumerate(items, 1):
        answer = await server.core.asker.ask(_about_program(root, it, number, len(items)))
        chosen = answer.option_ids if answer else ()
        agreed += [it.id] if chosen == ("allow_always",) else []
        if chosen == (NO_OTHERS,):
            break
    return agreed


def _about_folder(root: Path, brought: BroughtList, changes: Sequence[FileChange], *, is_changed: bool) -> Question:
    listed = told(brought.items) or ["It brings no settings and no extensions."]
    changed = ["What it brings has changed since you trusted it.", *_differences(changes)] if is_changed else []
    return Question(
        question_id=uuid.uuid4().hex,
        kind="trust",
        title=f"Trust what {printable(str(root))} brings?",
        detail="\n".join([*listed, *changed, ENVIRONMENT]),
        paths=tuple(dict.fromkeys(str(root / it.file) for it in brought.items)),
        items=brought.items,
        options=(
            Option("allow_always", "Trust this version"),
            Option("allow_once", "Not now"),
            Option("deny", "Never"),
        ),
    )


def _about_program(root: Path, it: BroughtItem, number: int, count: int) -> Question:
    others = (Option(NO_OTHERS, "None of the others either"),) if number < count else ()
    return Question(
        question_id=uuid.uuid4().hex,
        kind="trust",
        title=f"Let this run in {printable(str(root))}? ({number} of {count})",
        detail="\n".join(told([it])[1:]),
        command=it.program,
        cwd=str(root) if it.program else None,
        paths=tuple(str(root / name) for name in (it.file, *it.includes)),
        items=(it,),
        options=(Option("deny", "No"), Option("allow_always", "Agree"), *others),  # the first is what a hasty key takes
    )


def _differences(changes: Sequence[FileChange]) -> Iterator[str]:
    """A line for each file, and as much of the difference as fits on a screen."""
    yield from (f"- {it.how}: {it.name}" for it in changes)
    yield from cut([line for it in changes if it.diff for line in (f"{it.name}:", *it.diff)])
