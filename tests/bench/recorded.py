"""`python -m tests.bench.recorded [FOLDER]`: what three recorded pieces of work take, counted, not timed. FOLDER holds
another version of Odin; the table goes from what was counted once to what is counted now."""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import odin_lsp
from tests.bench.client import KEPT
from tests.bench.playing import MODEL, Player, Seen, size
from tests.bench.recorded_tasks import TASKS, Task

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


async def count(task: Task, odin: Path = HERE) -> Counts:
    """In a process of its own, from a terminal, where everything is accepted."""
    with tempfile.TemporaryDirectory() as name:
        home, root = Path(name) / "home", Path(name) / "project"
        task.make(root)
        settings = home / ".config/odin/odinconfig.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps({"limits": {"maxContext": task.max_context}, "memory": False}), encoding="utf-8")
        async with Player(script=task.script(root)).listening() as player:
            events = await _turn(task, root, home, odin, player.url)
        outcome = events[-1]["outcome"]
        if outcome["reason"] != "end_turn" or not task.is_done(root, outcome["answer"]):
            raise RuntimeError(f"{task.what} was not done: {outcome}")
    return Counts(
        steps=len(player.requests),
        sent=sum(map(size, player.requests)),
        small=player.small,
        receipts=sum(map(_receipts, player.requests[1:])),
        compactions=sum(it["kind"] == "compacted" and it["status"] == "succeeded" for it in events),
    )


async def _turn(task: Task, root: Path, home: Path, odin: Path, url: str) -> list[dict[str, Any]]:
    """What happened, the outcome last."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "odin_lsp", task.verb, "--yes", "--json", "--cwd", str(root), task.text),
        cwd=home,
        env={
            **{name: os.environ[name] for name in KEPT if name in os.environ},
            "HOME": str(home),
            "PYTHONPATH": str(odin),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "fake",
            "ODIN_MODEL": f"anthropic/{MODEL}",
            "ODIN_TITLES": "0",
        },
        stdout=asyncio.subprocess.PIPE,
    )
    printed, _ = await process.communicate()
    return [json.loads(line)["event"] for line in printed.splitlines()]


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
    sys.stdout.write("\n".join([*head, *rows, ""]))


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]) if sys.argv[1:] else HERE))
