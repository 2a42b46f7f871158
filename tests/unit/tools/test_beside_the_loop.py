"""Large texts: while one is gone through the event loop goes on, and what was typed meanwhile counts."""

import asyncio
import threading
from contextlib import suppress

import pytest

from odin_lsp.loop_share import is_event_loop
from odin_lsp.review import matching
from odin_lsp.workspace import files, loading, shown
from tests.support.reviewing import Bench

TEXT = "".join(f"line {number}\n" for number in range(1, 31))


class Held:
    """Work that waits in its thread until the event loop lets it go on; on the loop that would be never."""

    def __init__(self, monkeypatch, module, name):
        self._work, self._may_go_on = getattr(module, name), threading.Event()
        self.began, self.times = asyncio.Event(), 0
        self._loop = asyncio.get_running_loop()
        monkeypatch.setattr(module, name, self._wait)

    def let_go(self):
        self._may_go_on.set()

    def _wait(self, *arguments, **options):
        self.times += 1
        self._loop.call_soon_threadsafe(self.began.set)
        assert self._may_go_on.wait(20), "the event loop is held"
        return self._work(*arguments, **options)


@pytest.fixture
def bench(tmp_path, monkeypatch):
    for module in ("tasks", "workspace.files"):
        monkeypatch.setattr(f"odin_lsp.{module}.LARGE", 100)
    return Bench(tmp_path)


@pytest.fixture
async def path(bench):
    path = bench.write("a.txt", TEXT)
    await bench.read(path)
    return path


async def test_the_loop_goes_on_while_a_passage_is_looked_for(bench, path, monkeypatch):
    held = Held(monkeypatch, matching, "find")
    edit = asyncio.create_task(bench.edit(path, "line 99", "line one"))

    await held.began.wait()
    held.let_go()

    assert "the closest lines are" in (await edit).content


async def test_a_search_for_a_passage_is_canceled_at_once(bench, path, monkeypatch):
    held = Held(monkeypatch, matching, "find")
    edit = asyncio.create_task(bench.edit(path, "line 9\n", "line nine\n"))
    await held.began.wait()

    edit.cancel()
    with suppress(asyncio.CancelledError):
        await edit

    held.let_go()
    assert bench.text(path) == TEXT
    assert not bench.editor.reviews


async def test_what_is_typed_while_a_passage_is_looked_for_stays(bench, path, monkeypatch):
    bench.open(path)
    held = Held(monkeypatch, matching, "find")
    edit = asyncio.create_task(bench.edit(path, "line 9\n", "line nine\n"))
    await held.began.wait()

    bench.type(path, "typed below\n", 20)
    held.let_go()

    assert "accepted (line 9)" in (await edit).content
    assert bench.text(path) == TEXT.replace("line 9\n", "line nine\n").replace("line 21\n", "typed below\nline 21\n")
    assert held.times == 2


async def test_a_passage_that_is_typed_into_while_it_is_looked_for_is_not_replaced(bench, path, monkeypatch):
    bench.open(path)
    held = Held(monkeypatch, matching, "find")
    edit = asyncio.create_task(bench.edit(path, "line 9\n", "line nine\n"))
    await held.began.wait()

    bench.type(path, "my own ", 8)
    held.let_go()

    assert (await edit).failed
    assert bench.text(path) == TEXT.replace("line 9\n", "my own line 9\n")


async def test_the_loop_goes_on_while_it_is_found_out_what_is_still_shown(bench, path, monkeypatch):
    held = Held(monkeypatch, shown, "changed_lines")
    edit = asyncio.create_task(bench.edit(path, "line 9\n", "line nine\n"))

    await held.began.wait()
    held.let_go()

    assert not (await edit).failed
    assert not (await bench.edit(path, "line nine\n", "line 9\n")).failed


async def test_the_loop_goes_on_while_a_file_is_read(bench, monkeypatch):
    path = bench.write("a.txt", TEXT)
    held = Held(monkeypatch, loading, "decode")
    reading = asyncio.create_task(bench.use("Read", file_path=path, offset=20, limit=2))

    await held.began.wait()
    held.let_go()

    assert (await reading).content.startswith("    20\tline 20\n    21\tline 21\n")


async def test_a_file_that_is_opened_while_it_is_read_is_read_from_the_screen(bench, monkeypatch):
    path = bench.write("a.txt", TEXT)
    held = Held(monkeypatch, loading, "decode")
    reading = asyncio.create_task(bench.use("Read", file_path=path, offset=20, limit=1))
    await held.began.wait()

    bench.open(path, TEXT.replace("line 20", "unsaved"))
    held.let_go()

    assert (await reading).content.startswith("    20\tunsaved\n(unsaved changes are shown)")


async def test_no_large_file_is_read_on_the_loop_in_an_edit(bench, monkeypatch):
    on_loop, load = [], files.load_opened

    def loaded(path, *rest, **options):
        on_loop.extend([path] if is_event_loop() else [])
        return load(path, *rest, **options)

    monkeypatch.setattr(files, "load_opened", loaded)
    monkeypatch.setattr(files, "CLOCK_TICK_NS", 10**12)  # as if it had changed while it is searched
    path = bench.write("a.txt", TEXT)
    await bench.use("Grep", pattern="line 7", output_mode="content")

    edited = await bench.edit(path, "line 7", "line seven")
    await bench.use("ReplaceInFiles", pattern="line 9", replacement="line nine", glob="a.txt", whole_word=True)

    assert not edited.failed, edited.content
    assert path.read_text() == TEXT.replace("line 7\n", "line seven\n").replace("line 9\n", "line nine\n")
    assert on_loop == []
