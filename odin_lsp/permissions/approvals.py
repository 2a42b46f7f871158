"""What the user no longer wants to be asked about: one private file in the user's state folder."""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from odin_lsp import private_files, state_folder
from odin_lsp.modes import Mode
from odin_lsp.values import is_list, is_object


@dataclass(frozen=True, slots=True)
class Approval:
    tool: str
    pattern: str
    """The words that a command starts with."""
    workspace: str | None
    """The folder it is for; none: all of them."""
    mode: str
    """What was allowed in one mode says nothing about the others."""
    when: str

    @property
    def id(self) -> str:
        """Short, for `odin-lsp permissions remove`."""
        return hashlib.sha256(json.dumps([self.tool, self.pattern, self.workspace, self.mode]).encode()).hexdigest()[:8]


def approvals_file() -> Path:
    return state_folder.folder() / "approvals.json"


class Approvals:
    """Read anew whenever it is asked: what another process adds or removes counts at once."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or approvals_file()

    def all(self) -> tuple[Approval, ...]:
        return _approvals(private_files.read_json(self._path))

    def patterns(self, tool: str, workspace: Path, mode: Mode) -> tuple[str, ...]:
        """For `Rules.of`."""
        places = (None, str(workspace.resolve()))
        return tuple(it.pattern for it in self.all() if (it.tool, it.mode) == (tool, mode) and it.workspace in places)

    def add(self, tool: str, pattern: str, workspace: Path | None, mode: Mode) -> Approval:
        where = str(workspace.resolve()) if workspace is not None else None
        new = Approval(tool, pattern, where, mode, datetime.now(UTC).isoformat(timespec="seconds"))
        private_files.update_json(
            self._path, lambda old: _stored([*(it for it in _approvals(old) if it.id != new.id), new])
        )
        return new

    def remove(self, approval_id: str) -> Approval | None:
        """The one that is gone now, if there was one."""
        found = next((it for it in self.all() if it.id == approval_id), None)
        if found is not None:
            private_files.update_json(
                self._path, lambda old: _stored([it for it in _approvals(old) if it.id != approval_id])
            )
        return found


def _stored(approvals: list[Approval]) -> list[dict[str, Any]]:
    return [asdict(it) for it in approvals]


def _approvals(stored: Any) -> tuple[Approval, ...]:
    return tuple(filter(None, map(_approval, stored))) if is_list(stored) else ()


def _approval(stored: object) -> Approval | None:
    if not is_object(stored) or stored.keys() != set(Approval.__dataclass_fields__):
        return None
    texts = (stored["tool"], stored["pattern"], stored["mode"], stored["when"])
    if not all(isinstance(text, str) for text in texts) or not isinstance(stored["workspace"], str | None):
        return None
    return Approval(**stored)
