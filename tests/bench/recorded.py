"""`python -m tests.bench.recorded [FOLDER]`: what three recorded pieces of work take, counted, not timed. FOLDER holds
another version of Odin; the table goes from what was counted once to what is counted now."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from itertools import takewhile
from pathlib import Path
from typing import Any

import odin_lsp
from tests.bench.client import KEPT
from tests.bench.playing import CHARS_PER_TOKEN, MODEL, Player, Seen, size
from tests.bench.recorded_tasks import TASKS, Task, make_service, plan_and_edit

SWITCHES = (("plan", "edit"), ("ask", "edit"), ("ask", "plan"))
HERE = Path(odin_lsp.__file__).parent.parent
EDITING = frozenset({"EditTool", "MultiEditTool", "ReplaceInFiles", "WriteFile"})


@dataclass(frozen=True)
class Counts:
    steps: int
    sent: int
    """Bytes of tools, system prompt and messages in all requests to the main model."""
    small: int
    """Questions to the small model."""
    receipts: int
    """Bytes of what edits are answered with."""
    compactions: int


EARLIER = "3897f08"
BEFORE = {
    "feature": Counts(steps=8, sent=219_798, small=0, receipts=1_943, compactions=0),
    "rename": Counts(steps=7, sent=381_011, small=44, receipts=16_774, compactions=0),
    "research": Counts(steps=75, sent=5_255_679, small=3, receipts=0, compactions=4),
}
"""By the name of the task, as that commit was counted."""
ONE_LIST = 0.98
"""What a switch found in the cache while the tools of Edit were listed in every mode, as cbb6ec2 was counted."""


@dataclass(frozen=True)
class Switch:
    """The first request in another mode, in bytes."""

    sent: int
    tools: int
    """Of the tools that the mode before has, too."""
    cached: int
    """Of what a provider has in its cache from the turn before."""

    @property
    def share(self) -> float:
        return self.cached / self.sent

    @property
    def read_anew(self) -> int:
        """Tokens, estimated."""
        return (self.sent - self.cached) // CHARS_PER_TOKEN


@dataclass(frozen=True)
class Place:
    """Where the work is done: a project, a home with settings, and a version of Odin."""

    root: Path
    home: Path
    odin: Path

    @classmethod
    def made(cls, folder: str, odin: Path, max_context: int = 0) -> "Place":
        place = cls(Path(folder) / "project", Path(folder) / "home", odin)
        settings = place.home / ".config/odin/odinconfig.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"limits": {"maxContext": max_context}, "memory": False}), encoding="utf-8")
        return place


async def count(task: Task, odin: Path = HERE) -> Counts:
    """In a process of its own, from a terminal, where everything is accepted."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place.made(folder, odin, task.max_context)
        task.make(place.root)
        async with Player(script=task.script(place.root)).listening() as player:
            events = [it["event"] for it in await _turn(place, player.url, task.verb, task.text)]
        outcome = events[-1]["outcome"]
        if outcome["reason"] != "end_turn" or not task.is_done(place.root, outcome["answer"]):
            raise RuntimeError(f"{task.what} was not done: {outcome}")
    return Counts(
        steps=len(player.requests),
        sent=sum(map(size, player.requests)),
        small=player.small,
        receipts=sum(map(_receipts, player.requests[1:])),
        compactions=sum(it["kind"] == "compacted" and it["status"] == "succeeded" for it in events),
    )


async def switched(first: str, then: str, odin: Path = HERE) -> Switch:
    """From a turn that has read ten files to one in another mode."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place.made(folder, odin)
        make_service(place.root)
        async with Player(script=plan_and_edit(place.root)).listening() as player:
            planned = await _turn(place, player.url, first, "Plan it.")
            await _turn(place, player.url, then, "--session", planned[-1]["sessionId"], "Do it.")
    before, after = player.requests[-2:]
    shared = [*takewhile(lambda pair: pair[0][0] == pair[1][0], zip(_blocks(before), _blocks(after), strict=False))]
    while shared and not shared[-1][0][1]:  # it is in the cache up to a mark
        shared.pop()
    names = {it["name"] for it in before["tools"]}
    return Switch(
        sent=sum(len(text) for text, _ in _blocks(after)),
        tools=sum(len(text) for text, _ in _blocks({"tools": [it for it in after["tools"] if it["name"] in names]})),
        cached=sum(len(text) for (text, _), _ in shared),
    )


def _blocks(request: Mapping[str, Any]) -> list[tuple[str, bool]]:
    """In the order in which they are cached; and which of them are marked, so that all up to there is."""
    said = [block for message in request.get("messages", ()) for block in message["content"]]
    return [
        (json.dumps({key: value for key, value in block.items() if key != "cache_control"}), "cache_control" in block)
        for block in (*request["tools"], *request.get("system", ()), *said)
    ]


async def _turn(place: Place, url: str, verb: str, *arguments: str) -> list[dict[str, Any]]:
    """What happened, the outcome last."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "odin_lsp", verb, "--yes", "--json", "--cwd", str(place.root), *arguments),
        cwd=place.home,
        env={
            **{name: os.environ[name] for name in KEPT if name in os.environ},
            "HOME": str(place.home),
            "PYTHONPATH": str(place.odin),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "fake",
            "ODIN_MODEL": f"anthropic/{MODEL}",
            "ODIN_TITLES": "0",
        },
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    return [json.loads(line) for line in printed.splitlines()]


def _receipts(request: Mapping[str, Any]) -> int:
    return sum(len(it.text.encode()) for it in Seen(request).results if it.name in EDITING)


async def _main(odin: Path) -> None:
    counted = {task: await count(task, odin) for task in TASKS}
    names = [it.name for it in fields(Counts)]
    head = [f"| | {' | '.join(names)} |", f"| --- |{' --: |' * len(names)}"]
    rows = [
        f"| {task.what} | {' | '.join(f'{before:,} → {now:,}' for before, now in pairs)} |"
        for task, counts in counted.items()
        for pairs in [zip(astuple(BEFORE[task.name]), astuple(counts), strict=True)]
    ]
    switches = [(first, then, await switched(first, then, odin)) for first, then in SWITCHES]
    shares = [
        f"cached after a switch from {first} to {then}: {ONE_LIST:.0%} → {it.share:.0%}, {it.read_anew:,} tokens anew"
        for first, then, it in switches
    ]
    sys.stdout.write("\n".join([*head, *rows, "", *shares, ""]))


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]) if sys.argv[1:] else HERE))
