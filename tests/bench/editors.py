"""`python -m tests.bench.editors`: what a long chat costs in a real VS Code, written into docs/performance.md. Times
are those of the processor: of the thread that draws the window, as Chromium counts them."""

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from playwright.async_api import expect

from tests.bench import page
from tests.bench.endpoint import Endpoint, answering
from tests.bench.measure import Series
from tests.bench.table import Row, row, table
from tests.editors.vscode import VSCode
from tests.editors.vscode_chat import Chat
from tests.pictures.vscode import window

TURNS, CALLS = 250, 8
"""500 messages, 2,000 rows of tools."""
AT_ONCE = 10
TIMES = 5
DELTAS = 180
MS = 1000
BUDGETS = {"activation": 50, "opening": 300, "task": 50}
"""Milliseconds."""
TASKS = ("toplevel", "disabled-by-default-devtools.timeline")
ANSWER = "It is in `module.py`:\n\n```python\nvalue = 1\n```\n\nThat is **all** that there is to say about it."
WORDS = ("The ", "value ", "of ", "`total` ", "is ", "**right**, ", "as ", "`module.py:3` ", "says.\n\n")
ABOUT = f"""A chat of {2 * TURNS} messages with {TURNS * CALLS:,} rows of tools in a real VS Code, beside one with one
answer: processor time of the thread that draws the window. A chat is opened with its last page, and grows here with all
its messages shown. A task is what the thread does without a pause; while {DELTAS} deltas come at 60 a second, the
longest of them is what typing would wait for; those in which the bench itself asks something do not count. Activation
is as VS Code tells it, beside that of an extension which only opens a socket: what Odin's takes longer is Odin's."""


@dataclass
class Model(Endpoint):
    """Calls tools in each turn, and says something; with `deltas` it only talks, at a pace."""

    files: list[Path] = field(default_factory=list[Path])
    deltas: int = 0
    pause: float = 1 / 60
    ended: int = 0
    """Turns."""

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.deltas:
            await self._talk(reader, writer)
        elif self.requests[-1]["messages"][-1]["content"][-1]["type"] == "tool_result":
            writer.write(answering(ANSWER))
            self.ended += 1
        else:
            calls = [(f"toolu_{self.ended}_{it}", "Read", {"file_path": str(self.files[it])}) for it in range(CALLS)]
            writer.write(answering("", calls))
        self.requests.clear()
        await writer.drain()

    def word(self, number: int) -> str:
        return WORDS[number % len(WORDS)]


@dataclass(frozen=True)
class Found:
    activation: Series
    opening: Series
    task: Series

    def rows(self) -> list[Row]:
        most = BUDGETS["activation"]
        own = (median(self.activation.odin) - median(self.activation.bare)) * MS
        return [
            row("activation; an extension that does nothing", self.activation, MS, "ms", f"≤ +{most} ms", own <= most),
            _row(f"chat of {2 * TURNS} messages opened; one with one answer", self.opening, BUDGETS["opening"]),
            _row("… longest task while it grows by 60 deltas a second; the same", self.task, BUDGETS["task"]),
        ]


def _row(what: str, series: Series, most: int) -> Row:
    return row(what, series, MS, "ms", f"≤ {most} ms", median(series.odin) * MS <= most)


async def found() -> Found:
    model = Model()
    files = {f"module_{it}.py": "value = 1\n" for it in range(CALLS)}
    async with model.listening():
        activation = await _activation(model)
        async with window(model, "long", files) as (vscode, folder):
            model.files = sorted(folder.glob("*.py"))
            opening, task = await _long_chat(vscode, model)
    return Found(activation, opening, task)


async def _long_chat(vscode: VSCode, model: Model) -> tuple[Series, Series]:
    """What it costs to open it, and the longest task while it grows."""
    chat = Chat(vscode)
    await vscode.open_file(model.files[0])
    await chat.open()
    await expect(chat.box).to_be_visible()
    drawing: Any = await vscode.page.context.new_cdp_session(vscode.page)
    await drawing.send("Performance.enable", {"timeDomain": "threadTicks"})
    await _fill(vscode, model, 1)
    short = await _session(vscode)
    little = await _longest_task(vscode, chat, model)
    await vscode.command("odin.vscode.newSession")
    await _fill(vscode, model, TURNS)
    long = await _session(vscode)
    opening = Series()
    for _ in range(TIMES):
        opening.bare.append(await _opening(vscode, chat, drawing, short))
        opening.odin.append(await _opening(vscode, chat, drawing, long))
    await _show_all(chat)
    much = await _longest_task(vscode, chat, model)
    return opening, Series([much], [little])


async def _fill(vscode: VSCode, model: Model, turns: int) -> None:
    last = model.ended + turns
    while model.ended < last:
        wanted = min(last, model.ended + AT_ONCE)
        for number in range(model.ended, wanted):
            await vscode.command("odin.ask", {"text": f"what is said in place {number}?"})
        while model.ended < wanted:
            await asyncio.sleep(0.05)


async def _session(vscode: VSCode) -> dict[str, Any]:
    """The one that was used last."""
    return (await vscode.command("odin.session.list", {}))["sessions"][0]


async def _opening(vscode: VSCode, chat: Chat, drawing: Any, session: dict[str, Any]) -> float:
    """Seconds, from the command to a page that has drawn the last page of the session."""
    await vscode.command("odin.vscode.newSession")
    await expect(chat.turn).to_have_count(0)
    before = await _work(drawing)
    await vscode.command("odin.vscode.openSession", session)
    await expect(chat.turn).to_be_visible()
    await chat.box.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return await _work(drawing) - before


async def _show_all(chat: Chat) -> None:
    earlier = chat.button("Show Earlier Messages")
    while (shown := await chat.said.count()) < TURNS:
        await earlier.click()
        await expect(chat.said).not_to_have_count(shown)


async def _work(drawing: Any) -> float:
    metrics: list[dict[str, Any]] = (await drawing.send("Performance.getMetrics"))["metrics"]
    return next(it["value"] for it in metrics if it["name"] == "TaskDuration")


async def _longest_task(vscode: VSCode, chat: Chat, model: Model) -> float:
    async with _traced(vscode) as trace:
        model.deltas = DELTAS
        model.talking.clear()
        await vscode.command("odin.ask", {"text": "tell me more"})
        await model.talking.wait()
        await expect(chat.turn.locator(".figures")).to_be_visible()
        model.deltas = 0
    return max(_tasks(trace))


@asynccontextmanager
async def _traced(vscode: VSCode) -> AsyncGenerator[dict[str, Any]]:
    browser = vscode.page.context.browser
    assert browser
    await browser.start_tracing(page=vscode.page, categories=list(TASKS))
    trace: dict[str, Any] = {}
    yield trace
    trace.update(json.loads(await browser.stop_tracing()))


def _tasks(trace: dict[str, Any]) -> list[float]:
    """Seconds of the processor that each task of the drawing thread took, without those that answered a debugger: the
    bench asks by one what is on the page."""
    events = trace["traceEvents"]
    drawing = {(it["pid"], it["tid"]) for it in events if it.get("args", {}).get("name") == "CrRendererMain"}
    own = [it for it in events if (it["pid"], it["tid"]) in drawing and "tdur" in it]
    asked = [it["ts"] for it in own if "DevTools" in _interface(it)]
    tasks = [it for it in own if it["name"].endswith("RunTask")]
    return [it["tdur"] / 1e6 for it in tasks if not any(it["ts"] <= at < it["ts"] + it["dur"] for at in asked)]


def _interface(event: dict[str, Any]) -> str:
    return event["args"].get("chrome_mojo_event_info", {}).get("mojo_interface_tag", "")


async def _activation(model: Model) -> Series:
    """As the list of running extensions has it, in new windows. It shows what fits, those that took longest first."""
    found = Series()
    for _ in range(TIMES):
        async with window(model, "new", {}) as (vscode, _):
            await vscode.page.set_viewport_size({"width": 1280, "height": 4000})
            await vscode.palette("Developer: Show Running Extensions")
            for extension, times in (("Odin", found.odin), ("companion", found.bare)):
                ours = vscode.page.locator(".runtime-extensions-editor .extension", has_text=extension).first
                told = re.search(r"(\d+)ms", await ours.inner_text())
                assert told
                times.append(int(told[1]) / MS)
    return found


def main() -> None:
    rows = asyncio.run(found()).rows()
    written = table(rows)
    sys.stdout.write(f"{written}\n")
    made = f"Made by `python -m tests.bench.editors` on {time.strftime('%Y-%m-%d')}."
    page.write_section("editors", f"{ABOUT} {made}\n\n{written}")


if __name__ == "__main__":
    main()
