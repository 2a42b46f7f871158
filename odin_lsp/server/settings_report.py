"""Tells what is wrong with the settings, and asks for trust where a folder wants more than Odin gives to strangers."""

import asyncio
import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from odin_lsp import config
from odin_lsp.config import ConfigProblem
from odin_lsp.project.project import Situation
from odin_lsp.workspace.uris import printable

if TYPE_CHECKING:
    from odin_lsp.permissions.trust import Change
    from odin_lsp.server.host import Work

MAX_PROBLEMS = 20
"""Of which each is shown."""


class SettingsReport:
    def __init__(self, server: "Work") -> None:
        self._server = server
        self._told: tuple[ConfigProblem, ...] = ()
        self._seen: tuple[Path | None, str] = (None, "")
        """The folder, and how far it was trusted."""

    def tell(self, now: Situation) -> None:
        """What is wrong now, unless it was just as wrong before; and what the folder brings that is not used."""
        is_changed = now.standing == "changed" and self._seen != (now.root, now.standing)
        if now.standing == "unknown" and not now.is_restricted and self._seen != (now.root, now.standing):
            self._server.background(self._tell_of_extensions(now))
        self._seen = now.root, now.standing
        if now.problems == self._told:
            if is_changed and not now.is_restricted:
                self._server.background(self._ask_for_trust(now))
            return
        self._told = now.problems
        editor = self._server.editor
        for problem in now.problems[:MAX_PROBLEMS]:
            editor.notify("warning", str(problem))
        if (more := len(now.problems) - MAX_PROBLEMS) > 0:
            editor.notify("warning", f"{more:,} more problems with the settings; `odin-lsp doctor` names them")
        needs_trust = any(problem.needs_trust for problem in now.problems)
        if (needs_trust or is_changed) and not now.is_restricted:
            self._server.background(self._ask_for_trust(now))

    async def _tell_of_extensions(self, now: Situation) -> None:
        """Of a folder that nobody has decided about."""
        listed = (await asyncio.to_thread(lambda: now.extensions)).listed
        counts = Counter(it.kind for it in listed if it.state == "untrusted")
        if now.root is None or not counts:
            return
        brought = ", ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in counts.items())
        self._server.editor.notify(
            "info",
            f"{printable(str(now.root))} brings extensions for agents ({brought}). None of them is used until you trust"
            " the folder, by the command “Trust” of your editor or `odin-lsp permissions trust`.",
        )

    async def _ask_for_trust(self, now: Situation) -> None:
        """No answer leaves it at that, and so does one that was given for something else."""
        from odin_lsp.ports import Option, Question

        root, project = now.root, self._server.project
        if root is None or now.standing == "restricted":
            return
        wanted = [f"- {problem}" for problem in now.problems if problem.needs_trust]
        changes = await asyncio.to_thread(project.changes_since_trust)
        changed = ["They have changed since you trusted them.", *_shown(changes)] if now.standing == "changed" else []
        question = Question(
            question_id=uuid.uuid4().hex,
            kind="trust",
            title=f"Trust the settings and extensions of {printable(str(root))}?",
            detail="\n".join([*changed, *wanted]),
            paths=tuple(str(root / it.name) for it in changes) or (str(root / config.FILE_NAME),),
            options=(
                Option("allow_always", "Trust this version"),
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


def _shown(changes: "list[Change]") -> Iterator[str]:
    """A line for each file, and as much of the difference as fits on a screen."""
    from odin_lsp.server.surfaces import cut

    yield from (f"- {it.how}: {it.name}" for it in changes)
    yield from cut([line for it in changes if it.diff for line in (f"{it.name}:", *it.diff)])
