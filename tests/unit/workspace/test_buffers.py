import asyncio
from threading import Event, get_ident

import pytest

from odin_lsp.workspace.buffers import Buffers, look, moved
from odin_lsp.workspace.text import Change, Position, whole_lines

UNITS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
"""Bytes."""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("one\ntwo\n")
    return path


@pytest.fixture
def buffers(path):
    buffers = Buffers()
    buffers.open(path.as_uri(), 1, "one\ntwo\n")
    return buffers


def typed(text, line=0):
    return [Change(text, Position(line, 0), Position(line, 0))]


def test_a_document_is_unsaved_until_it_is_saved(buffers, path):
    buffer = buffers.of_path(path)
    assert not buffer.unsaved
    buffers.change(path.as_uri(), 2, typed("x"))
    assert (buffer.text, buffer.unsaved, buffer.version) == ("xone\ntwo\n", True, 2)
    path.write_text(buffer.text)
    buffers.save(path.as_uri())
    assert not buffer.unsaved
    buffers.close(path.as_uri())
    assert buffers.of_path(path) is None


def test_a_document_that_comes_back_unsaved_is_known_as_such(path):
    buffers = Buffers()
    buffers.open(path.as_uri(), 1, "left over from yesterday")

    assert buffers.of_uri(path.as_uri()).unsaved


def test_a_second_open_is_taken_at_its_word(buffers, path):
    buffers.open(path.as_uri(), 9, "again")

    assert buffers.of_path(path).text == "again"
    assert len(list(buffers)) == 1


def test_a_change_of_a_document_that_is_not_open_means_that_its_text_is_not_known(buffers, tmp_path):
    other = tmp_path / "b.py"
    buffers.change(other.as_uri(), 2, typed("x"))

    assert (buffers.of_path(other).synchronised, buffers.of_path(other).text) == (False, "")
    assert buffers.differing_below(tmp_path) == []
    buffers.change(other.as_uri(), 3, [Change("whole")])
    assert (buffers.of_path(other).synchronised, buffers.of_path(other).text) == (True, "whole")
    buffers.close(other.as_uri())
    assert buffers.of_path(other) is None


def test_what_a_notebook_says_may_not_be_known(buffers, path):
    buffers.open_notebook(path.as_uri(), 1, [], None)

    assert not buffers.of_path(path).synchronised
    buffers.close(path.as_uri())
    assert buffers.of_path(path) is None


@pytest.mark.parametrize("version", [3, 2, 0])
def test_versions_out_of_order_mean_that_the_text_is_not_known(buffers, path, version):
    buffers.change(path.as_uri(), 3, typed("x"))
    buffers.change(path.as_uri(), version, typed("y"))

    assert not buffers.of_path(path).synchronised
    assert buffers.differing_below(path.parent) == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_letters_that_are_typed_in_a_row_are_one_change(buffers, path, encoding):
    """But for where a line is broken, or something else comes in between."""
    buffers.encoding = encoding
    seen = []
    buffers.watchers.append(lambda buffer: seen.append(buffer.change.text))
    changes, column = typed("\n"), 0
    for letter in "äb😀c":
        changes.append(Change(letter, Position(0, column), Position(0, column)))
        column += len(letter.encode(f"{encoding}-le" if encoding != "utf-8" else encoding)) // UNITS[encoding]
    changes += [*typed("d", 1), Change("", Position(0, column - 1), Position(0, column)), *typed("e")]

    buffers.change(path.as_uri(), 2, changes)

    assert buffers.of_path(path).text == "eäb😀\ndone\ntwo\n"
    assert seen == ["\n", "äb😀c", "d", "", "e"]


def test_a_range_that_runs_backwards_means_that_the_text_is_not_known(buffers, path):
    buffers.change(path.as_uri(), 2, [Change("x", Position(1, 0), Position(0, 0))])

    assert not buffers.of_path(path).synchronised


@pytest.mark.parametrize("heal", ["whole text", "open"])
def test_the_whole_text_makes_it_known_again(buffers, path, heal):
    buffers.change(path.as_uri(), 0, typed("x"))
    if heal == "open":
        buffers.open(path.as_uri(), 1, "fresh")
    else:
        buffers.change(path.as_uri(), 5, [Change("fresh")])

    buffer = buffers.of_path(path)
    assert (buffer.synchronised, buffer.text) == (True, "fresh")


def test_one_document_has_many_names(path):
    buffers = Buffers()
    buffers.open("file:///C:/k.py", 1, "text")
    assert buffers.of_uri("file:///c%3A/k.py").text == "text"
    buffers.open("untitled:Untitled-1", 1, "draft")
    assert buffers.of_uri("untitled:Untitled-1").path is None


def test_whoever_watches_hears_of_a_notebook_and_that_its_text_is_not_known(buffers, path):
    heard = []
    buffers.watchers.append(lambda buffer: heard.append((buffer.uri, buffer.is_notebook, buffer.synchronised)))

    buffers.open_notebook("file:///book.ipynb", 1, [], None)

    assert heard == [("file:///book.ipynb", True, False)]


def test_a_link_to_an_open_file_is_that_file(buffers, path):
    link = path.with_name("link.py")
    link.symlink_to(path)

    assert buffers.of_path(link.resolve()).text == "one\ntwo\n"


def test_a_file_that_changes_under_its_document_is_noticed(buffers, path):
    buffer = buffers.of_path(path)
    assert not moved(buffer)
    path.write_text("something else\n")
    assert moved(buffer)
    assert buffers.differing_below(path.parent) == [buffer]


def test_a_file_that_is_only_touched_has_not_changed(buffers, path):
    path.write_text("one\ntwo\n")

    assert not moved(buffers.of_path(path))


def test_a_file_that_now_says_what_the_screen_says_has_not_moved_away(buffers, path):
    buffers.change(path.as_uri(), 2, typed("x"))
    path.write_text("xone\ntwo\n")

    assert not moved(buffers.of_path(path))


@pytest.fixture
def opened(path, monkeypatch):
    """A document whose file counts as a large one; how often it was told of is counted."""
    monkeypatch.setattr("odin_lsp.workspace.buffers.LARGE", 1)

    async def opened(text="one\ntwo\n"):
        buffers, told = Buffers(), asyncio.Queue()
        buffers.watchers.append(lambda buffer: told.put_nowait(buffer.unsaved))
        buffers.open(path.as_uri(), 1, text)
        assert await told.get()
        return buffers, told

    return opened


async def test_a_large_document_is_compared_with_its_file_beside_the_event_loop(opened, path, monkeypatch):
    threads = list[int]()
    monkeypatch.setattr("odin_lsp.workspace.buffers.look", lambda path: (threads.append(get_ident()), look(path))[1])
    buffers, told = await opened()

    assert not await told.get()
    assert not buffers.of_path(path).unsaved
    assert threads
    assert get_ident() not in threads


async def test_the_lines_of_a_large_document_are_found_beside_the_event_loop(opened, path, monkeypatch):
    threads = list[int]()
    monkeypatch.setattr(
        "odin_lsp.workspace.text.whole_lines", lambda it: (threads.append(get_ident()), whole_lines(it))[1]
    )
    buffers, _ = await opened()

    await buffers.settled()

    assert len(buffers.of_path(path).lines) == 2
    assert threads
    assert get_ident() not in threads


async def test_a_large_document_with_another_text_than_its_file_stays_unsaved(opened, path):
    buffers, _ = await opened("one\n2\n")

    await buffers.settled()

    assert buffers.of_path(path).unsaved
    assert buffers.differing_below(path.parent)


async def test_what_is_typed_while_a_large_document_is_compared_is_unsaved(opened, path, monkeypatch):
    began, loop, may_go_on = asyncio.Event(), asyncio.get_running_loop(), Event()

    def wait(path):
        loop.call_soon_threadsafe(began.set)
        assert may_go_on.wait(20)
        return look(path)

    monkeypatch.setattr("odin_lsp.workspace.buffers.look", wait)
    buffers, _ = await opened()
    await began.wait()
    buffers.change(path.as_uri(), 2, typed("x"))
    may_go_on.set()

    await buffers.settled()

    assert buffers.of_path(path).unsaved


async def test_a_large_file_that_changes_while_it_is_compared_has_moved(opened, path):
    buffers, _ = await opened()
    path.write_text("by somebody else\n")

    await buffers.settled()

    assert moved(buffers.of_path(path))
    assert buffers.of_path(path).unsaved


async def test_a_large_document_that_was_saved_is_known_by_its_text_again(opened, path):
    buffers, _ = await opened("saved\n")
    path.write_text("saved\n")
    buffers.save(path.as_uri())
    await buffers.settled()

    path.touch()

    assert not moved(buffers.of_path(path))
    path.write_text("by somebody else\n")
    assert moved(buffers.of_path(path))
