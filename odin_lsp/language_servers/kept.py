"""A language server of Odin's own that is kept for when it is needed, and what is known of it."""

from collections.abc import Callable
from pathlib import Path

from odin_lsp.commands.kept import Kept, Times
from odin_lsp.commands.memory import memory_of
from odin_lsp.language_servers.choosing import Candidate
from odin_lsp.language_servers.own_server import OwnServer
from odin_lsp.server_states import ServerState
from odin_lsp.tasks import Tasks


class KeptServer(Kept[OwnServer]):
    def __init__(
        self,
        candidate: Candidate,
        root: Path,
        make: Callable[[Callable[[str], None]], OwnServer],
        times: Times,
        tasks: Tasks,
        warn: Callable[[str], None],
        changed: Callable[[], None],
    ) -> None:
        def give_up(problem: str) -> None:
            warn(
                f"The language server {candidate.known.name} keeps stopping, and Odin goes on without it ({problem}). "
                "Run `odin-lsp doctor` to see more, or disable it in `languageServers.servers`."
            )

        super().__init__(make, times, tasks, give_up, changed)
        self.candidate = candidate
        self._root = root

    def state(self, *, measure: bool) -> ServerState | None:
        """`None`: it is not needed, and nothing is wrong."""
        server, name, root = self.server, self.candidate.known.name, str(self._root)
        if server is not None:
            memory = memory_of(server.pid) if measure and server.pid is not None else None
            state = "ready" if server.is_ready else "loading"
            errors, warnings = server.counted
            return ServerState(name=name, root=root, state=state, errors=errors, warnings=warnings, memory=memory)
        if self.is_starting:
            return ServerState(name=name, root=root, state="starting")
        if not self.problem:
            return None
        state = "given up" if self.is_given_up else "stopped"
        return ServerState(name=name, root=root, state=state, problem=self.problem)
