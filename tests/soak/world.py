"""The world of a day: a folder, an editor and those who have attached, a provider on loopback, and a real Odin."""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

from odin_lsp.host import place
from odin_lsp.host.terms import own_terms
from tests.e2e.steps import says
from tests.soak.editor import CAPABILITIES, Editor, values_of
from tests.soak.faulty import Control
from tests.soak.peer import Gone, Peer, Refused
from tests.support.mcp_servers import entry
from tests.support.wire import KEY, Wire, serving

ROOT = Path(__file__).parents[2]
PATIENCE = 240
"""Seconds: nothing waits so long unless it waits for ever."""
FILES = ("a", "b", "c")
NAMES = 8
SETTINGS = {"titles": False, "retries": {"attempts": 3}}
STORED = ("messages", "earlierMessages", "todos", "usage", "earlierSubagents")
"""Of the state of a session: what is the same after a restart."""


class Broken(AssertionError):
    """Something that has to hold does not."""


@dataclass
class Turn:
    task: "asyncio.Task[Any]"
    mode: str
    is_held: bool = False
    """The model does not finish its answer."""


@dataclass
class World:
    folder: Path
    wire: Wire
    editor: Editor
    control: Control
    process: asyncio.subprocess.Process | None = None
    guests: list[Peer] = field(default_factory=list[Peer])
    turns: dict[str, Turn] = field(default_factory=dict[str, Turn])
    """Those whose answer is waited for."""
    decided: dict[str, str] = field(default_factory=dict[str, str])
    """What Odin has said that became of each hunk."""
    ran: list[str] = field(default_factory=list[str])
    """Commands that the person has allowed."""
    refused: int = 0
    """Requests that were answered with an error."""
    is_unsure: bool = False
    """Something may not have reached the disk."""
    numbers: "count[int]" = field(default_factory=lambda: count(1))
    lives: int = 0

    @property
    def root(self) -> Path:
        return self.folder / "work"

    @property
    def other(self) -> Path:
        return self.folder / "other"

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def sessions(self) -> list[str]:
        """Those that were used last."""
        return [*self.editor.sessions][-3:]

    @property
    def peer(self) -> Peer:
        assert self.editor.peer is not None
        return self.editor.peer

    # processes

    async def start(self) -> None:
        command = (sys.executable, "-m", "tests.soak.faulty", str(self.folder / "control"))
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=-1, stdout=-1, stderr=log)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.lives += 1
        async with asyncio.timeout(PATIENCE):
            await self.editor.connect(Peer(self.process.stdout, self.process.stdin))

    async def end(self, how: str) -> None:
        """`kill`: as `kill -9` does; `leave`: as an editor that is closed; `hang up`: as one that was killed."""
        process, peer = self.process, self.peer
        assert process is not None
        assert process.stdin is not None
        match how:
            case "kill":
                process.kill()
            case "leave":
                async with asyncio.timeout(PATIENCE):
                    await peer.ask("shutdown")
                peer.tell("exit", None)
            case _:
                process.stdin.close()
        async with asyncio.timeout(PATIENCE):
            code = await process.wait()
            await peer.reading
        if how == "leave" and code != 0:
            raise Broken(f"it ended with code {code}")
        for guest in self.guests:
            await guest.close()
        self.guests.clear()
        for turn in self.turns.values():
            await asyncio.wait([turn.task])
        self.turns.clear()
        self.wrong_of(peer)
        self.process = None

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def wrong_of(self, peer: Peer) -> None:
        if peer.wrong:
            raise Broken("; ".join(peer.wrong))

    async def attach(self) -> Peer | None:
        """Another front end, which only looks and decides."""
        async with asyncio.timeout(PATIENCE):
            while (found := place.connected(self.root)) is None:
                await asyncio.sleep(0.02)
        peer = Peer(*await asyncio.open_unix_connection(sock=found))
        peer.answer = _nothing
        given = {"processId": None, "rootUri": self.root.as_uri(), "capabilities": CAPABILITIES}
        try:
            await peer.ask("initialize", {**given, "initializationOptions": own_terms(os.environ, {})})
        except Refused:
            await peer.close()
            return None
        peer.tell("initialized", {})
        self.guests.append(peer)
        return peer

    # turns

    def begin(self, mode: str, peer: Peer | None = None, text: str = "go", **more: Any) -> str:
        turn_id = f"t{next(self.numbers)}"
        asked = (peer or self.peer).command(mode, text=text, turnId=turn_id, **more)
        task = asyncio.create_task(_outcome(asked))
        task.add_done_callback(lambda _: self.editor.changed.set())
        self.turns[turn_id] = Turn(task, mode)
        return turn_id

    async def settle(self) -> None:
        """Until nothing goes on by itself: each turn has ended, or waits for the person, or for one that does."""
        await self.editor.until(lambda: all(self._rests(it) for it in self.turns), PATIENCE)
        for turn_id in [it for it, turn in self.turns.items() if turn.task.done()]:
            outcome = self.turns.pop(turn_id).task.result()
            if isinstance(outcome, Refused):
                self.refused += 1
            elif isinstance(outcome, dict) and outcome["turnId"] != turn_id:
                raise Broken(f"{turn_id} was answered with {outcome['turnId']}")

    def _rests(self, turn_id: str) -> bool:
        turn = self.turns[turn_id]
        waits = any(it.turn == turn_id and it.pending for it in self.editor.reviews.values())
        return turn.task.done() or turn.is_held or waits or turn_id in self.editor.queued

    @property
    def is_idle(self) -> bool:
        return not self.turns and not self.editor.reviews

    async def command(self, name: str, /, peer: Peer | None = None, **argument: Any) -> Any:
        """Answered soon, whatever goes on."""
        async with asyncio.timeout(PATIENCE):
            return await (peer or self.peer).command(name, **argument)

    async def _rested(self, session_id: str) -> dict[str, Any]:
        """Its state, when a turn has ended that a decision let go on."""
        async with asyncio.timeout(PATIENCE):
            while True:
                self.editor.changed.clear()
                state = await self.command("state", sessionId=session_id)
                if not state["executing"] and not state["suspended"]:
                    return state
                await self.editor.changed.wait()

    async def stored(self) -> dict[str, Any]:
        """Of each session that was used: what a restart must not change."""
        found: dict[str, Any] = {}
        for session_id in self.sessions:
            state = await self._rested(session_id)
            events: list[Any] = []
            before: dict[str, int] = {}
            while True:
                page = await self.command("session.events", sessionId=session_id, **before)
                events[:0] = [(it["turnId"], it.get("agentId"), it["event"]) for it in page["events"]]
                if "before" not in page:
                    break
                before = {"before": page["before"]}
            found[session_id] = {"events": events} | {it: state.get(it) for it in STORED}
        return found


async def _outcome(asked: Any) -> Any:
    try:
        return await asked
    except (Gone, Refused) as error:
        return error


async def _nothing(method: str, params: Any) -> None:
    return None


def _texts(root: Path) -> dict[Path, str]:
    return {root / f"{file}.py": "".join(f"{file}_{number} = 0\n\n\n" for number in range(NAMES)) for file in FILES}


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    folder = Path(tempfile.mkdtemp(prefix="odin-day-"))
    saved = _texts(folder / "work")
    for part in ("work", "other", "home", "config/odin", "state"):
        (folder / part).mkdir(parents=True)
    for path, text in saved.items():
        path.write_text(text)
    (folder / "config" / "odin" / "odinconfig.json").write_text(json.dumps(SETTINGS))
    servers = {"mcpServers": {"scripted": entry(folder, {})}}
    (folder / "config" / "odin" / "mcp.json").write_text(json.dumps(servers))
    async with serving() as wire:
        wire.reply_to = lambda request: None if wire.answers else says()
        variables = {"HOME": "home", "XDG_CONFIG_HOME": "config", "XDG_STATE_HOME": "state"}
        environment = {name: str(folder / part) for name, part in variables.items()}
        environment |= {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": wire.url}
        with patch.dict(os.environ, environment):
            editor = Editor([folder / "work"], saved)
            editor.wanted.update(it for text in saved.values() for it in values_of(text).items())
            here = World(folder, wire, editor, Control.new(folder / "control"))
            try:
                await here.start()
                yield here
            finally:
                if here.process is not None and here.process.returncode is None:
                    here.signal(signal.SIGKILL)
                    await here.end("kill")
                shutil.rmtree(folder, ignore_errors=True)
