"""`python -m tests.bench`: measure, print, and write docs/performance.md. No figure stands there by hand."""

import asyncio
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from statistics import median

from tests.bench import (
    attaching,
    commands,
    growth,
    guests,
    lookup,
    mapping,
    mcp_servers,
    measure,
    neovim,
    page,
    providers,
    recorded,
    recorded_tasks,
    review,
    sessions,
    steps,
    undo,
    workspace,
)
from tests.bench.endpoint import PAUSE
from tests.bench.measure import STEPS, Series
from tests.bench.profiles import PROFILES
from tests.bench.recorded import EARLIER
from tests.bench.table import Row, grown, memory, more_memory, row, spread, table
from tests.bench.wires import WIRES
from tests.support.long_work import WINDOW, long_work

PLOT = Path("docs/images/growth.svg")
LONG_STEPS = 300
PREFIX_OF_SERVERS = 200_000
"""Bytes: 5 % of a window of 1,000,000 tokens, of four characters each."""
COUNTED = {
    "steps": "steps",
    "small": "questions to the small model",
    "receipts": "bytes of what edits are answered with",
    "compactions": "compactions",
}
INTRODUCTION = """# Performance

<!-- Written by `nox -s bench`. Do not edit. -->

What Odin itself costs, beside the least that any program of its kind has to do. Each pair was measured in turns within
one run: the *ratio* says more about Odin, the times more about the machine. Figures are medians, but for the 99th
percentiles.
"""
GROWTH = """
![How costs grow with sizes: time above size, both by powers of ten, beside what is in proportion](images/growth.svg)
"""
BASELINES = f"""
- *Bare server*: a pygls server without any feature of its own.
- *Bare loop*: a Python script that sends a request, reads the stream, reads the file and sends the next request.
- The model is a server on loopback that speaks Anthropic's streaming format and answers at once: {STEPS} calls of
  `Read`, one a step, each of another file of 200 lines; then text. Odin runs as editors start it, over stdio, in Edit
  mode.
- Processor time of steps is that of `odin-lsp ask --json`, and of a script that takes the provider's SDK as its
  documentation shows it: what their threads had taken when each request arrived.
- First token and cancel use a reply of text only, one delta each {PAUSE * 1000:g} ms.
- Keystrokes, edits, reviews, searches and the cache are measured in one process, without an editor.
- The map of a tree is made in a process of its own, and then again after one file has changed.
- The MCP servers are programs in Python that answer at once. Without them Odin does not load the SDK of MCP.
- The language server of its own is pyright, which a question to the model without a key has made Odin start.
- The long turn is counted, not timed: a model that reads 20 lines in each step; tokens as a provider counts them that
  has the prefix of the last request in its cache, at a tenth of the price.
- A step's own cost after so many messages is measured in one process, with a model that reads 20 lines in each step and
  answers at once.
- The feature, the rename and the research are recorded work, counted, not timed. A script stands for the model and
  decides by what it is sent, as a strong model would: who is refused an edit for want of reading reads and tries again,
  and the research looks up again what has left the window. Its answer is a fact from its third step. Bytes sent are
  those of tools, system prompt and messages as JSON, in all requests. The baseline is what the same scripts counted of
  Odin at commit {EARLIER}. `python -m tests.bench.recorded` prints these alone.
- The switch comes after a turn that has read ten files. With one list of tools for all modes, as cbb6ec2 had, nearly
  all was found in the cache; what both modes list comes first and still is. The rest is read anew, once a switch.
- The fixed prefix is what every request repeats: the system prompt and the tool definitions as JSON.
"""


def main() -> None:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as workspace:
        rows = asyncio.run(_rows(Path(workspace)))
        rows += asyncio.run(_provider_rows(Path(workspace)))
    with tempfile.TemporaryDirectory() as tree:
        rows += asyncio.run(_workspace_rows(Path(tree)))
    with tempfile.TemporaryDirectory() as folder:
        rows += list(_map_rows(Path(folder)))
    with tempfile.TemporaryDirectory() as folder:
        rows += asyncio.run(_review_rows(Path(folder)))
    with tempfile.TemporaryDirectory() as folder:
        rows += asyncio.run(_neovim_rows(Path(folder)))
    rows += asyncio.run(_recorded_rows())
    with tempfile.TemporaryDirectory() as folder:
        grown_by_size = asyncio.run(growth.growths(Path(folder)))
    rows += [it.row() for it in grown_by_size]
    PLOT.write_text(growth.plot(grown_by_size), encoding="utf-8")
    written = table(rows)
    sys.stdout.write(f"{written}\n")
    made = (
        f"\nMade by `nox -s bench` on {time.strftime('%Y-%m-%d')} in {time.monotonic() - began:.0f} s: {_machine()}.\n"
    )
    page.write_beginning(f"{INTRODUCTION}{made}\n{written}\n{GROWTH}{BASELINES}{PROFILES}")


async def _rows(workspace: Path) -> list[Row]:
    startup = await measure.startup(workspace, 11)
    turns = await measure.turns(workspace, 5)
    tokens = await measure.first_tokens(workspace, 3)
    cancelling = await measure.cancelling(workspace, 5)
    offline, warmed = await measure.idle_memory(workspace, 3)
    alone = [measure.sdk_memory() for _ in range(3)]
    listed, resumed = await sessions.listed(workspace, 3), await sessions.resumed(workspace, 3)
    with_pyright = await measure.own_language_server(workspace, 3)
    extended = await mcp_servers.with_servers(workspace, 3)
    long = await long_work(workspace, LONG_STEPS)
    by_history = await steps.seconds(5)
    return [
        row("start → `initialize` answered; bare server", startup, 1, "s", "≤ 0.3 s", median(startup.odin) <= 0.3),
        row(
            "command → first request, in a running server; bare loop, from its start",
            turns.first_request,
            1000,
            "ms",
            "≤ 50 ms",
            median(turns.first_request.odin) <= 0.05,
        ),
        *spread("overhead per step; bare loop", turns.overhead, 5, None),
        *spread("first token: provider's byte → `odin/event`; bare loop", tokens, 5, 20),
        row(
            "cancel → provider's connection closed; bare loop, killed",
            cancelling,
            1000,
            "ms",
            "≤ 1 s",
            max(cancelling.odin) <= 1,
        ),
        memory("memory, idle, no key; bare server", offline, 90),
        memory("memory, idle, ready to ask Anthropic; bare server", warmed, 90),
        Row(
            "… Python with Anthropic's SDK, which Odin does without",
            f"{median(alone):.0f} MiB",
            "–",
            "–",
            "–",
            kept=True,
        ),
        memory("memory, idle, with a language server of its own behind it; before that", with_pyright.odin, 100),
        Row("… of that server, pyright", f"{median(with_pyright.pyright):.0f} MiB", "–", "–", "–", True),
        memory(f"memory after a turn of {STEPS} steps; bare loop", turns.memory, 110),
        more_memory(f"memory when {sessions.LISTED} sessions were listed; before that", listed, 5),
        more_memory(f"memory with a session of {sessions.MESSAGES:,} messages taken up; before that", resumed, 60),
        Row(
            "fixed prefix of each request, Edit mode",
            f"{turns.prefix:,} B",
            "–",
            "–",
            "≤ 16,000 B",
            turns.prefix <= 16_000,
        ),
        *_extended_rows(extended),
        Row(
            f"a turn of {LONG_STEPS} steps on a window of {WINDOW:,} tokens: input read from the provider's cache",
            f"{long.cached:.0%}",
            "–",
            "–",
            "≥ 90 %",
            long.cached >= 0.9,
        ),
        Row(
            "the same: cost of a step in its last third; in its second",
            f"{long.later_cost:,.0f}",
            f"{long.earlier_cost:,.0f}",
            f"{long.later_cost / long.earlier_cost:.2f} ×",
            "≤ 1.5 ×",
            long.later_cost <= 1.5 * long.earlier_cost,
        ),
        *_by_history(by_history),
    ]


async def _provider_rows(workspace: Path) -> list[Row]:
    rows: list[Row] = []
    for wire in WIRES:
        found = await providers.steps(workspace, wire, 2)
        what = f"processor time of a step, {wire.name}; the SDK's own loop"
        rows.append(row(what, found.early, 1000, "ms", "≤ 1.15 × the SDK's", found.early.ratio <= 1.15))
        late = Series(found.late.odin, found.early.odin)
        what = f"… the last 30 of {providers.STEPS} steps; the 10th to 40th"
        rows.append(row(what, late, 1000, "ms", "≤ 1.2 ×", found.growth <= 1.2))
    found = await attaching.attaching(workspace, WIRES[0], 5)
    alone, attached = found.alone, found.attached
    what = "`odin-lsp ask` → first request; the SDK's own loop, from its start"
    rows.append(row(what, alone.first_request, 1, "s", "≤ 1.0 s", median(alone.first_request.odin) <= 1))
    rows.append(row("… processor time", alone.work, 1, "s", "–", kept=True))
    rows.append(memory("… its memory", alone.memory, 90))
    what = "`odin-lsp ask` → first request, with an Odin that is there; by itself"
    rows.append(row(what, attached.first_request, 1, "s", "≤ 0.3 s", median(attached.first_request.odin) <= 0.3))
    rows.append(row("… processor time", attached.work, 1, "s", "–", kept=True))
    rows.append(memory("… its memory", attached.memory, 25))
    return [*rows, *await guests.sharing(workspace / "guests")]


def _extended_rows(found: mcp_servers.WithServers) -> Iterator[Row]:
    tools = f"{mcp_servers.SERVERS} MCP servers of {mcp_servers.TOOLS} tools"
    yield Row(
        f"fixed prefix with {tools}; without",
        f"{found.prefix:,} B",
        f"{found.prefix_without:,} B",
        f"{found.prefix / found.prefix_without:.2f}",
        "5 % of the window more",
        found.prefix <= found.prefix_without + PREFIX_OF_SERVERS,
    )
    added = median(found.known.odin) - median(found.known.bare)
    what = "command → first request, with these servers; without"
    yield row(what, found.known, 1000, "ms", "≤ 50 ms more", added <= 0.05)
    wait = median(found.unknown.odin)
    what = "… that Odin has never seen; without"
    yield row(what, found.unknown, 1000, "ms", "≤ `mcp.wait`, 3 s, and 0.2 s", wait <= 3.2)
    yield memory("memory after a turn, with these servers; without", found.memory, 200)
    yield Row("… of all these servers", f"{median(found.servers):.0f} MiB", "–", "–", "–", True)


async def _workspace_rows(tree: Path) -> list[Row]:
    rows = [
        row(
            f"keystroke in a document of {lines:,} lines; pygls' own document",
            series := workspace.keystrokes(lines, 300),
            1000,
            "ms",
            "≤ 1 ms",
            median(series.odin) <= 0.001,
        )
        for lines in (1_000, 10_000, 100_000)
    ]
    workspace.make_tree(tree)
    ways = {"warm": {}, f"with {workspace.DIRTY} unsaved documents": {"dirty": workspace.DIRTY}}
    ways |= {"cold": {"cold": True}} if workspace.can_cool_down() else {}
    for way, options in ways.items():
        series = await workspace.searching(tree, 7, **options)
        what = f"search of {workspace.FILES:,} files, {way}; ripgrep itself"
        rows.append(row(what, series, 1, "s", "≤ 1.2 × ripgrep", series.ratio <= 1.2))
    hits = workspace.cache_hits(tree, 5000)
    rows.append(row("cache hit among 500 files; a dict", hits, 1e6, "µs", "≤ 50 µs", median(hits.odin) <= 50e-6))
    commands.make_repository(repository := tree / "repository")
    for command in commands.COMMANDS:
        series = await commands.reading(repository, command, 30)
        what = f"`{command}`, held to reading; merely kept from writing"
        rows.append(row(what, series, 1000, "ms", "≤ 1.3 × kept from writing", series.ratio <= 1.3))
    series = await commands.back_to_back(repository, "cat a.txt", 30)
    added = median(series.odin) - median(series.bare)
    what = "`cat a.txt`, judged, held and run, right behind another; bash itself"
    rows.append(row(what, series, 1000, "ms", "≤ 15 ms more", added <= 0.015))
    told = await lookup.references(tree / "lookup", 30)
    what = f"`Lookup` of {lookup.PLACES * lookup.FILES} references, told at once; reading the {lookup.FILES} files"
    rows.append(row(what, told, 1000, "ms", "≤ 10 ms", median(told.odin) <= 0.01))
    noting = await undo.noting(tree)
    what = f"keep one of {undo.FILES} files of {undo.CHARACTERS:,} characters for undo; one, written whole or not"
    rows.append(row(what, noting.each, 1000, "ms", "the last ≤ 3 × the first", noting.growth <= 3))
    hold = f"{noting.longest_hold * 1000:.2f} ms"
    rows.append(Row("… the event loop held at most", hold, "–", "–", "≤ 50 ms", noting.longest_hold <= 0.05))
    most, bound, growth = workspace.reading_many(tree)
    rows.append(
        Row(
            "held while 10,000 files are read",
            f"{most >> 20} MiB",
            f"{bound >> 20} MiB allowed",
            "–",
            f"grew by {growth:.0f} MiB",
            most <= bound,
        )
    )
    return rows


def _map_rows(folder: Path) -> Iterator[Row]:
    fewer, many = 1_000, 10_000
    for files in (fewer, many):
        mapping.make_tree(folder / f"{files}", files)
    less, more = (mapping.mapping(folder / f"{files}", 3) for files in (fewer, many))
    what = f"map of what a tree of {many:,} files defines; the list of its files"
    yield row(what, more.first, 1, "s", "≤ 5 s", median(more.first.odin) <= 5)
    first, again = median(more.first.odin), median(more.again.odin)
    ratio = again / first
    yield Row("… again after one change", f"{again:.2f} s", f"{first:.2f} s", f"{ratio:.2f}", "≤ 0.8 ×", ratio <= 0.8)
    growth = first / median(less.first.odin)
    tenth = f"{median(less.first.odin):.2f} s"
    yield Row("… and a tenth of it", f"{first:.2f} s", tenth, f"{growth:.2f}", "≤ 10 ×", growth <= 10)
    grown, tenth = median(more.memory), f"{median(less.memory):.0f} MiB for a tenth"
    yield Row("… grows the process by", f"{grown:.0f} MiB", tenth, "–", "≤ 30 MiB", grown <= 30)


def _by_history(seconds: dict[int, list[float]]) -> Iterator[Row]:
    first = min(seconds)
    for messages in sorted(seconds)[1:]:
        series = Series(seconds[messages], seconds[first])
        what = f"a step's own cost after {messages:,} messages; after {first}"
        yield row(what, series, 1000, "ms", f"≤ 1.3 × after {first}", series.ratio <= 1.3)


async def _review_rows(folder: Path) -> list[Row]:
    fewer_matches, matches = [await review.replacing(folder / "edits", number, 7) for number in (200, 2_000)]
    fewer_keys, keys = [await review.typing(folder / f"keys-{number}", number, 100) for number in (100, 1_000)]
    breaks = await review.typing(folder / "breaks", 500, 100, "\n")
    fewer_opened, opened = [await review.opening(folder / f"opened-{number}", number, 5) for number in (100, 1_000)]
    fewer_told, told = [await review.told(folder / f"told-{number}", number, 50) for number in (100, 1_000)]
    fewer_one, fewer_all = await review.accepting(folder / "accepts-100", 100, 5)
    half, _ = await review.accepting(folder / "accepts-500", 500, 5)
    one, all_of_them = await review.accepting(folder / "accepts-1000", 1_000, 5)
    checked = await review.checked(folder / "checked", 1_000, 7)
    added = median(checked.odin) - median(checked.bare)
    return [
        *grown("`replace_all` of 2,000 matches in 213 KiB, to its proposal; a diff", matches, fewer_matches, 150),
        *grown("keystroke above 1,000 pending hunks in 1 MB; pygls' own document", keys, fewer_keys, 5),
        row(
            "line break above 500 of them; pygls' own document",
            breaks,
            1000,
            "ms",
            "≤ 2 × pygls'",
            breaks.ratio <= 2,
        ),
        *grown("1,000 hunks proposed, kept and shown; a diff", opened, fewer_opened, 1000),
        row(
            "one of 500 pending hunks accepted; one change of pygls' own document",
            half,
            1000,
            "ms",
            "≤ 20 ms",
            median(half.odin) <= 0.02,
        ),
        *grown("one of 1,000 pending hunks accepted; one change of pygls' own document", one, fewer_one, 40),
        *grown("1,000 pending hunks accepted and applied; as many such changes", all_of_them, fewer_all, 1000),
        row(
            "told to the editor per character typed beside 1,000 hunks; what the editor sent for it",
            told,
            1,
            "B",
            "as beside 100",
            median(told.odin) <= 1.1 * median(fewer_told.odin),
        ),
        row(
            "accepted edit, with servers that say at once what it broke in 20 other files; without servers",
            checked,
            1000,
            "ms",
            "≤ 20 ms more",
            added <= 0.02,
        ),
    ]


async def _neovim_rows(folder: Path) -> list[Row]:
    found = await neovim.plugin(folder, 7)
    start, opening = median(found.start) * 1000, median(found.opening) * 1000
    what = f"… redraw of {neovim.HUNKS} hunks, one of them changed; as many plain marks set anew"
    return [
        Row("Neovim: the plugin's start, until it is used", f"{start:.2f} ms", "–", "–", "≤ 2 ms", start <= 2),
        Row(f"… review of {neovim.HUNKS} hunks, opened", f"{opening:.2f} ms", "–", "–", "≤ 50 ms", opening <= 50),
        row(what, found.redraws, 1000, "ms", "≤ 16 ms", median(found.redraws.odin) <= 0.016),
    ]


async def _recorded_rows() -> list[Row]:
    return [
        *[row for task in recorded_tasks.TASKS for row in _counted(task, await recorded.count(task))],
        *[row for modes in recorded.SWITCHES for row in _switched(*modes, await recorded.switched(*modes))],
    ]


def _switched(first: str, then: str, found: recorded.Switch) -> Iterator[Row]:
    before, kept = recorded.ONE_LIST, found.cached >= found.tools
    what = f"switch from {first.title()} to {then.title()}: input read from the provider's cache; with one list"
    yield Row(what, f"{found.share:.0%}", f"{before:.0%}", "–", "what both list", kept)
    yield Row("… tokens read anew", f"{found.read_anew:,}", "–", "–", "–", kept=True)


def _counted(task: recorded_tasks.Task, now: recorded.Counts) -> Iterator[Row]:
    before = recorded.BEFORE[task.name]
    what = f"{task.what}: bytes sent; by {EARLIER}"
    ratio = f"{now.sent / before.sent:.2f}"
    yield Row(what, f"{now.sent:,} B", f"{before.sent:,} B", ratio, "≤ 0.6", now.sent <= 0.6 * before.sent)
    for name in ("steps", "small", "receipts", "compactions"):
        odin, earlier = getattr(now, name), getattr(before, name)
        if odin or earlier:
            yield Row(f"… {COUNTED[name]}", f"{odin:,}", f"{earlier:,}", "–", "no more", odin <= earlier)


def _machine() -> str:
    """What kind of machine, not which one."""
    system = platform.freedesktop_os_release()["PRETTY_NAME"] if sys.platform == "linux" else platform.system()
    packages = ", ".join(f"{name} {version(name)}" for name in ("odin-lsp", "pygls", "anthropic"))
    return f"{os.cpu_count()} cores, {platform.machine()}, {system}, Python {platform.python_version()}, {packages}"


if __name__ == "__main__":
    main()
