"""Measurements of edits and their review: many matches of one edit, typing beside what is pending, accepting it. Each
beside what it costs to compare or change the same text without a review."""

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from difflib import unified_diff
from pathlib import Path
from time import perf_counter

from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.workspace import TextDocument

from odin_lsp.agent.edit_checks import EditChecks, TurnProblems
from odin_lsp.intelligence.servers import NoServers, Problem, Problems
from odin_lsp.ports import Decision, ReviewHunk
from odin_lsp.review.proposals import PendingHunk, Proposal, Wish, edit_of
from odin_lsp.tools.base import all_tools
from odin_lsp.values import to_wire
from odin_lsp.workspace.text import Change, Position, split_lines, whole_lines
from tests.bench.measure import Series
from tests.support.reviewing import Bench

LINES = 25_000
"""About 1 MB."""
BROKEN = Problem(line=21, character=0, end_line=21, end_character=5, severity="error", message="no such name")


def text_of(lines: int) -> str:
    return "".join(f"    value_{number} = compute({number})  # comment\n" for number in range(lines))


async def replacing(folder: Path, matches: int, times: int) -> Series:
    """Seconds from the call of a `replace_all` to what it proposes; a diff of the two texts beside it."""
    series = Series()
    text = "".join(f"{line}    # {'-' * 56}\n" for line in whole_lines(text_of(matches)))
    for number in range(times):
        bench = Bench(folder / f"{matches}-{number}", policy="end")
        path = bench.write("a.py", text)
        lines = split_lines(text)
        bench.context.shown.note(path, 1, lines, total=len(lines))
        tool = all_tools()["EditTool"]
        arguments = {"file_path": str(path), "old_string": "compute(", "new_string": "calculate(", "replace_all": True}
        params = tool.params.model_validate(arguments)
        began = perf_counter()
        await tool.execute(params, bench.context)
        series.odin.append(perf_counter() - began)
        began = perf_counter()
        list(unified_diff(whole_lines(text), whole_lines(text.replace("compute(", "calculate("))))
        series.bare.append(perf_counter() - began)
    return series


async def typing(folder: Path, hunks: int, times: int, typed: str = "x") -> Series:
    """Seconds for what is typed above pending hunks of a document; pygls' own document, without any, beside it."""
    series = Series()
    place = Position(LINES // hunks // 4, 4)
    async with _review(folder, hunks) as (bench, uri, _):
        for version in range(2, times + 2):
            began = perf_counter()
            bench.files.buffers.change(uri, version, [Change(typed, place, place)])
            series.odin.append(perf_counter() - began)
    document = TextDocument(uri, text_of(LINES), version=0)
    for _ in range(times):
        began = perf_counter()
        document.apply_change(_plain(Change(typed, place, place)))
        series.bare.append(perf_counter() - began)
    return series


async def checked(folder: Path, files: int, times: int) -> Series:
    """Seconds from the acceptance of an edit, in a tree of so many files, until the model may go on, with servers that
    say at once what it has introduced in 20 others; the same without servers beside it."""
    series = Series()
    for number in range(times):
        for servers, taken in ((KnownProblems, series.odin), (NoServers, series.bare)):
            bench = Bench(folder / f"{number}-{servers.__name__}")
            path = bench.write("a.py", f"def total():\n    pass\n\n\n{text_of(1_000)}")
            for name in range(files):
                bench.write(f"part{name % 100}/m{name}.py", f"{text_of(20)}\ntotal()\n" if name < 20 else text_of(20))
            context = bench.context
            checks = EditChecks(servers(), bench.files, context.search, context.emit, 3.0, (TurnProblems(),))
            context.draft.before_review, bench.executor.checks = checks.before, checks
            bench.editor.takes_its_time = True  # all is noted when the review is shown
            accepted: list[float] = []
            bench.editor.meanwhile = lambda accepted=accepted: accepted.append(perf_counter())
            await bench.read(path)
            result = await bench.edit(path, "def total", "def sum_up")
            taken.append(perf_counter() - accepted[0])
            assert ("20 introduced" in result.content) == (servers is KnownProblems), result.content
    return series


class KnownProblems(NoServers):
    """Every file has one, from the second time on that it is asked about."""

    def __init__(self) -> None:
        self._seen: set[Path] = set()

    async def problems(self, paths: Collection[Path], patience: float) -> Mapping[Path, Problems]:
        found = {
            path: Problems((BROKEN,) if path in self._seen and path.name != "a.py" else (), True) for path in paths
        }
        self._seen.update(paths)
        return found


async def opening(folder: Path, hunks: int, times: int) -> Series:
    """Seconds until a proposal with so many hunks is kept and on the screen; a diff of the two texts beside it."""
    series = Series()
    for number in range(times):
        bench = Bench(folder / str(number))
        bench.editor.decide = _nothing
        proposal = _proposal(bench, hunks)
        began = perf_counter()
        submitted = asyncio.create_task(bench.desk.submit(proposal, bench.context.draft.turn))
        while not bench.editor.reviews:
            await asyncio.sleep(0)
        series.odin.append(perf_counter() - began)
        await _reject(bench, proposal)
        await submitted
        began = perf_counter()
        list(unified_diff(whole_lines(text_of(LINES)), whole_lines(_changed(hunks))))
        series.bare.append(perf_counter() - began)
    return series


async def told(folder: Path, hunks: int, times: int) -> Series:
    """Bytes that go to the editor for each character that is typed into a line with a pending hunk; those that the
    editor has sent for it beside them."""
    series = Series()
    place = Position(LINES // hunks // 2, 4)
    async with _review(folder, hunks) as (bench, uri, _):
        for version in range(2, times + 2):
            known = len(bench.events)
            bench.files.buffers.change(uri, version, [Change("x", place, place)])
            series.odin.append(float(sum(len(json.dumps(to_wire(it))) for it in bench.events[known:])))
            text = types.VersionedTextDocumentIdentifier(version, uri)
            params = types.DidChangeTextDocumentParams(text, [_plain(Change("x", place, place))])
            series.bare.append(float(len(json.dumps(get_converter().unstructure(params)))))
    return series


async def accepting(folder: Path, hunks: int, times: int) -> tuple[Series, Series]:
    """Seconds until one of many pending hunks is accepted, and until all of them are and can be seen; one change of
    pygls' own document, and that as many times, beside it."""
    one, all_of_them = Series(), Series()
    for number in range(times):
        async with _review(folder / str(number), hunks) as (bench, uri, pending):
            first, *rest = [Decision(hunk_id=it.id, decision="accept") for it in pending]
            began = perf_counter()
            await bench.desk.decide([first])
            one.odin.append(perf_counter() - began)
            began = perf_counter()
            await bench.desk.decide(rest)
        all_of_them.odin.append(perf_counter() - began)
        document, place = TextDocument(uri, text_of(LINES), version=0), Position(LINES // 2, 4)
        began = perf_counter()
        document.apply_change(_plain(Change("calculate", place, place)))
        one.bare.append(perf_counter() - began)
        all_of_them.bare.append(one.bare[-1] * hunks)
    return one, all_of_them


@asynccontextmanager
async def _review(folder: Path, hunks: int) -> AsyncIterator[tuple[Bench, str, list[PendingHunk]]]:
    """A document with as many pending hunks, evenly spread; at the end, what is left of them is applied or rejected."""
    bench = Bench(folder)
    bench.editor.decide = _nothing
    proposal = _proposal(bench, hunks)
    submitted = asyncio.create_task(bench.desk.submit(proposal, bench.context.draft.turn))
    while not bench.editor.reviews:
        await asyncio.sleep(0)
    yield bench, proposal.files[0].path.as_uri(), list(proposal.hunks)
    await _reject(bench, proposal)
    await submitted


def _proposal(bench: Bench, hunks: int) -> Proposal:
    path = bench.write("a.py", text_of(LINES))
    bench.files.buffers.open(path.as_uri(), 1, text_of(LINES))
    return Proposal("turn", [edit_of(path, text_of(LINES), _changed(hunks), Wish("call", "because"))])


def _changed(hunks: int) -> str:
    lines = whole_lines(text_of(LINES))
    for number in range(hunks):
        at = number * (LINES // hunks) + LINES // hunks // 2
        lines[at] = lines[at].replace("compute", "calculate")
    return "".join(lines)


async def _reject(bench: Bench, proposal: Proposal) -> None:
    pending = [it for it in proposal.hunks if it.state == "pending"]
    await bench.desk.decide([Decision(hunk_id=it.id, decision="reject") for it in pending])


def _nothing(_: ReviewHunk) -> None:
    """A person who looks, and decides later."""


def _plain(change: Change) -> types.TextDocumentContentChangePartial:
    assert change.start is not None
    place = types.Position(change.start.line, change.start.character)
    return types.TextDocumentContentChangePartial(types.Range(place, place), change.text)
