"""A user who trusts a folder and agrees to all that it brings, as it is now."""

from collections.abc import Container
from pathlib import Path

from odin_lsp.permissions.trust import Trust
from odin_lsp.project.project import Project


class Everything(Container[str]):
    """Ids of whatever there is."""

    def __contains__(self, item: object) -> bool:
        return True


def trust_folder(root: Path, state: Path | None = None) -> None:
    """For good; `state` is the folder in which Odin keeps it."""
    trust = Trust(state / "odin" / "trust.json" if state else None)
    brought = trust.brought(root)
    trust.decide(root, trusted=True, items=[it.id for it in brought.items], digest=brought.digest)
    trust.keep()


def agree_to_all(project: Project) -> bool:
    """Until the process ends."""
    return project.decide_trust(trusted=True, items=[it.id for it in project.brought().items])
