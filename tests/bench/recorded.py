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
from tests.bench.playing import MODEL, Player, Seen, size
from tests.bench.recorded_tasks import TASKS, Task, make_service, plan_and_edit

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
SWITCHED_BEFORE = 0.04


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


async def switched(odin: Path = HERE) -> float:
    """The share of the first request in Edit mode that a provider has in its cache from the Plan turn before."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place.made(folder, odin)
        make_service(place.root)
        async with Player(script=plan_and_edit(place.root)).listening() as player:
            planned = await _turn(place, player.url, "plan", "Plan it.")
            await _turn(place, player.url, "edit", "--session", planned[-1]["sessionId"], "Do it.")
    before, after = map(_blocks, player.requests[-2:])
    shared = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    return sum(len(block) for block, _ in shared) / sum(map(len, after))


def _blocks(request: Mapping[str, Any]) -> list[str]:
    """In the order in which they are cached, without the marks of what is to be."""
    said = [block for message in request["messages"] for block in message["content"]]
    return [
        json.dumps({key: value for key, value in block.items() if key != "cache_control"})
        for block in (*request["tools"], *request["system"], *said)
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
    share = f"cached after a switch from Plan to Edit: {SWITCHED_BEFORE:.0%} → {await switched(odin):.0%}"
    sys.stdout.write("\n".join([*head, *rows, "", share, ""]))


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]) if sys.argv[1:] else HERE))
