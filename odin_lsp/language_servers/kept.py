"""A language server of Odin's own that is kept for when it is needed, and what is known of it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from odin_lsp.commands.kept import Kept, Times
from odin_lsp.commands.memory import memory_of
from odin_lsp.language_servers.choosing import Candidate
from odin_lsp.language_servers.own_server import OwnServer
from odin_lsp.tasks import Tasks
from odin_lsp.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState(Value):
    """A language server of Odin's own, that runs or should."""

    name: str
    root: str
    """The folder that it serves."""
    state: Literal["starting", "loading", "ready", "stopped", "given up"]
    """`loading`: what it says may not be all. `stopped`: it has died, and is started again when it is needed."""
    memory: int | None = None
    """Bytes, of all its processes."""
    problem: str | None = None
    """Why it is not running."""


class KeptServer(Kept[OwnServer]):
    def __init__(
        self,
        candidate: Candidate,
        root: Path,
        make: Callable[[Callable[[str], None]], OwnServer],
        times: Times,
        tasks: Tasks,
        warn: Callable[[str], None],
    ) -> None:
        def give_up(problem: str) -> None:
            warn(
                f"The language server {candidate.known.name} keeps stopping, and Odin goes on without it ({problem}). "
                "Run `odin-lsp doctor` to see more, or disable it in `languageServers.servers`."
            )

        super().__init__(make, times, tasks, give_up)
        self.candidate = candidate
        self._root = root

    def state(self) -> ServerState | None:
        """`None`: it is not needed, and nothing is wrong."""
        server, name, root = self.server, self.candidate.known.name, str(self._root)
        if server is not None:
            memory = memory_of(server.pid) if server.pid is not None else None
            return ServerState(name=name, root=root, state="ready" if server.is_ready else "loading", memory=memory)
        if self.is_starting:
            return ServerState(name=name, root=root, state="starting")
        if not self.problem:
            return None
        state = "given up" if self.is_given_up else "stopped"
        return ServerState(name=name, root=root, state=state, problem=self.problem)
