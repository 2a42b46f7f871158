"""Commands that go on while the model does something else. They end with the session at the latest."""

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from odin_lsp.commands.output import MAX_SHOWN_CHARS, Output
from odin_lsp.commands.runner import Ended, Running
from odin_lsp.errors import ToolError

MOST_AT_ONCE = 10


@dataclass(slots=True, eq=False)
class BackgroundCommand:
    id: str
    command: str
    description: str
    output: Output
    running: Running
    ended: Ended | None = None
    notes: tuple[str, ...] = ()
    finished: "asyncio.Task[None]" = field(init=False)
    """Done when everybody has heard of its end."""
    began: float = field(default_factory=time.monotonic)
    end_is_known: bool = False
    """The model has been told that it has ended."""
    _told: int = 0
    """Bytes of the log that the model has been shown."""

    @property
    def status(self) -> str:
        if self.ended is None:
            return f"running for {time.monotonic() - self.began:.0f} s"
        return how_it_ended(self.ended)

    def news(self) -> str:
        """What it printed since the last time; of much, the end."""
        try:
            with self.output.path.open("rb") as log:
                log.seek(self._told)
                data = log.read()
        except OSError:
            return ""
        self._told += len(data)
        text = data.decode("utf-8", "ignore")
        if len(text) <= MAX_SHOWN_CHARS:
            return text
        left_out = len(text) - MAX_SHOWN_CHARS
        return f"… ({left_out:,} characters left out; all of it is in {self.output.path}) …\n{text[-MAX_SHOWN_CHARS:]}"


class Background:
    def __init__(self) -> None:
        self._commands: dict[str, BackgroundCommand] = {}

    def __iter__(self) -> Iterator[BackgroundCommand]:
        return iter(tuple(self._commands.values()))

    def check_room(self) -> None:
        if sum(it.ended is None for it in self) >= MOST_AT_ONCE:
            raise ToolError(f"{MOST_AT_ONCE} commands run in the background already; stop one of them first")

    def add(
        self,
        command: str,
        description: str,
        output: Output,
        running: Running,
        on_end: Callable[[BackgroundCommand], None],
    ) -> BackgroundCommand:
        added = BackgroundCommand(f"background-{len(self._commands) + 1}", command, description, output, running)
        self._commands[added.id] = added
        added.finished = asyncio.create_task(_watch(added, on_end))
        return added

    def find(self, id: str) -> BackgroundCommand:
        if id not in self._commands:
            known = ", ".join(self._commands) or "none was started"
            raise ToolError(f"there is no background command {id!r}; there are: {known}")
        return self._commands[id]

    async def settled(self) -> None:
        """Until all have ended."""
        await asyncio.gather(*(command.finished for command in self))


async def _watch(command: BackgroundCommand, on_end: Callable[[BackgroundCommand], None]) -> None:
    command.ended = await command.running.ended()
    on_end(command)


def how_it_ended(ended: Ended) -> str:
    after = f"after {ended.seconds:.1f} s"
    match ended.how:
        case "exited" if ended.exit_code is not None and ended.exit_code < 0:
            text = f"ended by signal {-ended.exit_code} {after}"
        case "exited":
            text = f"exit code {ended.exit_code} {after}"
        case "failed":
            text = f"could not be run: {ended.problem}"
        case "printed too much":
            text = f"ended {after}, because it printed too much"
        case _:
            text = f"{ended.how} {after}"
    if ended.left and ended.how == "exited":
        text += f"; {ended.left} process{'es' if ended.left > 1 else ''} that it left behind ended with it"
    return text + (f"; {ended.survivors} of its processes could not be ended" if ended.survivors else "")
