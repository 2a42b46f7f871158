"""What the user no longer wants to be asked about: one private file in the user's state folder."""

import hashlib
import json
import os
import uuid
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from odin_lsp import private_files, state_folder, system
from odin_lsp.modes import Mode
from odin_lsp.permissions.foreign_names import FOREIGN
from odin_lsp.values import is_list, is_object

OPTIONAL = ("session", "server")


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
    session: str | None = None
    """For this session only, as `new_session` names it; none: for good."""
    server: str | None = None
    """Of an MCP server's tool: the id of the server, whatever else has its name."""

    @property
    def id(self) -> str:
        """Short, for `odin-lsp permissions remove`."""
        ends = [it for it in (self.session, self.server) if it is not None]
        told = json.dumps([self.tool, self.pattern, self.workspace, self.mode, *ends])
        return hashlib.sha256(told.encode()).hexdigest()[:8]

    def counts_in(self, workspace: Path | None, session: str | None) -> bool:
        if self.session is not None:
            return self.session == session
        return workspace is not None and self.workspace in (None, str(workspace.resolve()))


def new_session() -> str:
    """A name that no other has had: what was allowed in a session does not count when it is opened again."""
    return f"{os.getpid()}-{uuid.uuid4().hex}"


def approvals_file() -> Path:
    return state_folder.folder() / "approvals.json"


class Approvals:
    """Read anew whenever it is asked: what another process adds or removes counts at once."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or approvals_file()

    def all(self) -> tuple[Approval, ...]:
        return _approvals(private_files.read_json(self._path))

    def patterns(
        self, tool: str, workspace: Path | None, mode: Mode, session: str | None = None, server: str | None = None
    ) -> tuple[str, ...]:
        """For `Rules.of`."""
        meant = (it for it in self.all() if (it.tool, it.mode, it.server) == (tool, mode, server))
        return tuple(it.pattern for it in meant if it.counts_in(workspace, session))

    def add(
        self,
        tool: str,
        pattern: str,
        workspace: Path | None,
        mode: Mode,
        session: str | None = None,
        server: str | None = None,
    ) -> Approval:
        new = approval(tool, pattern, workspace, mode, session, server)
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

    def end(self, session: str) -> None:
        """What was allowed in it counts no more."""
        if any(it.session == session for it in self.all()):
            private_files.update_json(
                self._path, lambda old: _stored([it for it in _approvals(old) if it.session != session])
            )


def approval(
    tool: str, pattern: str, workspace: Path | None, mode: Mode, session: str | None, server: str | None = None
) -> Approval:
    where = str(workspace.resolve()) if workspace is not None else None
    return Approval(tool, pattern, where, mode, datetime.now(UTC).isoformat(timespec="seconds"), session, server)


def _stored(approvals: list[Approval]) -> list[dict[str, Any]]:
    return [{key: value for key, value in asdict(it).items() if key not in OPTIONAL or value} for it in approvals]


def _approvals(stored: Any) -> tuple[Approval, ...]:
    found = filter(None, map(_approval, stored)) if is_list(stored) else ()
    return tuple(it for it in found if it.session is None or _is_running(it.session.partition("-")[0]))


def _is_running(process: str) -> bool:
    """Whether what was allowed there may still count: an Odin that was killed could not take it back."""
    try:
        return system.is_alive(int(process))
    except ValueError:
        return False


def _approval(stored: object) -> Approval | None:
    if not is_object(stored) or {*stored, *OPTIONAL} != set(Approval.__dataclass_fields__):
        return None
    texts = (stored["tool"], stored["pattern"], stored["mode"], stored["when"])
    if not all(isinstance(text, str) for text in texts) or not isinstance(stored["workspace"], str | None):
        return None
    if not all(isinstance(stored.get(name), str | None) for name in OPTIONAL):
        return None
    found = Approval(**stored)
    is_nobodys = found.tool.startswith(FOREIGN) and found.server is None
    return None if is_nobodys else found  # earlier versions have stored a name, which any server could have
