"""What grows with the workspace is done in threads: the loop's own work is the same for five times as many files."""

import asyncio
import selectors
import sys
import threading
from pathlib import Path

import pytest

from odin_lsp.agent.context import ContextItem, looked_up
from odin_lsp.errors import ToolError
from odin_lsp.intelligence import users
from odin_lsp.intelligence.servers import NoServers
from odin_lsp.tools import glob, known_problems
from odin_lsp.tools.base import all_tools
from odin_lsp.tools.missing import missing

FEW, MANY = 400, 2_000
MORE = MANY - FEW
"""Calls: less than one for each file that has come to be there."""
OF_THE_LOOP = (str(Path(asyncio.__file__).parent), selectors.__file__)
LONG = "a_name_of_which_no_more_than_a_part_of_so_many_fits_into_the_result_of_a_call_to_a_tool"


@pytest.fixture
def grown(root):
    """Makes files until there are so many."""

    def grown(count):
        folder = root / "src"
        for number in range(len(list(folder.iterdir())), count):
            (folder / f"{LONG}_{number}.py").write_text(f"import needle\nneedle_{number}\n")

    return grown


async def calls_on_the_loop(work):
    """How many functions are called on the loop's thread until it is done, but for those of the loop itself: what a
    program prints comes in more parts on a busy machine."""
    count = 0

    def counted(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call") and not frame.f_code.co_filename.startswith(OF_THE_LOOP)

    sys.setprofile(counted)
    try:
        await work
    finally:
        sys.setprofile(None)
    return count


TOOLS = {
    "Glob": ("Glob", {"pattern": "**/*"}),
    "Glob of a few": ("Glob", {"pattern": "**/*_1.py"}),
    "Glob of none": ("Glob", {"pattern": "*.lua"}),
    "Grep of files": ("Grep", {"pattern": "needle", "output_mode": "files_with_matches"}),
    "Grep of lines": ("Grep", {"pattern": "needle"}),
    "Grep by glob and type": ("Grep", {"pattern": "needle", "glob": "*.py", "type": "py"}),
    "LS": ("LS", {"path": "src"}),
}


@pytest.mark.parametrize("name", TOOLS)
async def test_a_tool_holds_the_loop_no_longer_in_a_larger_workspace(use, grown, name):
    tool, arguments = TOOLS[name]
    grown(FEW)
    await use(tool, **arguments)
    few = await calls_on_the_loop(use(tool, **arguments))
    grown(MANY)

    assert await calls_on_the_loop(use(tool, **arguments)) < few + MORE


async def test_nor_does_a_folder_in_a_message(context, root, grown):
    item = ContextItem(kind="folder", uri=(root / "src").as_uri())
    grown(FEW)
    few = await calls_on_the_loop(looked_up([item], NoServers(), context.search))
    grown(MANY)

    assert await calls_on_the_loop(looked_up([item], NoServers(), context.search)) < few + MORE


async def test_nor_do_problems_of_a_folder(context, root, grown):
    grown(FEW)
    few = await calls_on_the_loop(known_problems._files(root, context))
    grown(MANY)

    assert await calls_on_the_loop(known_problems._files(root, context)) < few + MORE


async def test_nor_does_a_name_that_is_nearly_there(context, root, grown):
    path = root / "src" / "a_name.py"
    grown(FEW)
    few = await calls_on_the_loop(missing(path, context))
    grown(MANY)

    assert await calls_on_the_loop(missing(path, context)) < few + MORE


async def test_nor_do_the_files_that_a_change_may_hurt(context, root, grown, monkeypatch):
    monkeypatch.setattr(users, "SEARCH_SECONDS", users.SEARCH_SECONDS * 60)

    async def found():
        assert await users.users_of(["needle"], [root / "x.py"], context.files, context.search)

    grown(FEW)
    few = await calls_on_the_loop(found())
    grown(MANY)

    assert await calls_on_the_loop(found()) < few + MORE


@pytest.mark.parametrize("glob", ["src/**", "*.lua"])
async def test_nor_does_a_replacement_in_too_many_files_or_none(context, grown, glob):
    params = {"pattern": "needle", "replacement": "pin", "glob": glob}
    tool = all_tools()["ReplaceInFiles"]

    async def refused():
        with pytest.raises(ToolError, match=r"files would be changed|not wanted"):
            await tool.execute(tool.parse(params), context)

    grown(FEW)
    few = await calls_on_the_loop(refused())
    grown(MANY)

    assert await calls_on_the_loop(refused()) < few + MORE


async def test_a_listing_in_its_thread_holds_nobody_up(use, context, monkeypatch):
    is_listed, goes_on = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    visible = context.files.ignore.visible

    def waiting(below, folders):
        assert threading.current_thread() is not threading.main_thread()
        loop.call_soon_threadsafe(is_listed.set)
        asyncio.run_coroutine_threadsafe(goes_on.wait(), loop).result()
        return visible(below, folders)

    monkeypatch.setattr(context.files.ignore, "visible", waiting)
    listing = asyncio.create_task(use("Glob", pattern="**/*.md"))
    told = asyncio.create_task(is_listed.wait())
    await asyncio.wait([listing, told], return_when=asyncio.FIRST_COMPLETED)
    told.cancel()
    assert not listing.done()
    goes_on.set()

    assert (await listing).data == "notes.md"


async def test_a_pattern_is_compiled_beside_the_loop(use, monkeypatch):
    threads, compiled = list[int](), glob.NamePattern

    def compiling(pattern):
        threads.append(threading.get_ident())
        return compiled(pattern)

    monkeypatch.setattr(glob, "NamePattern", compiling)
    await use("Glob", pattern="*.lua")

    assert threads
    assert threading.get_ident() not in threads
