"""What the model is told of files: little, once, and only what is true."""

import itertools
import threading
import time

import pytest

from odin_lsp.agent.held_files import CHANGED, MAX_TOLD, SEEN, HeldFiles
from odin_lsp.agent.touched import touched_files
from odin_lsp.messages import user
from odin_lsp.terminal.editor import TerminalEditor
from odin_lsp.workspace import files
from tests.support.reviewing import Bench, reject


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


@pytest.fixture
def held(bench):
    edited = lambda: touched_files(bench.executor.records)  # noqa: E731
    return HeldFiles(bench.files, bench.context.shown, lambda: bench.context.draft.texts, edited)


@pytest.fixture
def clock(monkeypatch):
    """Seconds pass from one look to the next."""
    seconds = itertools.count(1_700_000_000)
    monkeypatch.setattr("odin_lsp.workspace.shown.time.time", lambda: float(next(seconds)))


async def told(held, earlier=""):
    """The lines of the list, without times and folders."""
    lines = await held.listed([user(earlier)] if earlier else [])
    return [line.partition(f"{held.files.roots[0]}/")[2] for line in lines[1:]]


def seen(held, path):
    return time.strftime("seen %H:%M:%S", time.localtime(held.shown.of(path).at))


async def test_the_list_says_size_time_and_who_has_changed_what(bench, held):
    names = ("whole", "part", "edited", "typed")
    whole, part, edited, typed = (bench.write(name, "one\ntwo\nthree\n") for name in names)
    bench.open(typed)
    await bench.read(whole, edited, typed)
    await bench.use("Read", file_path=part, offset=2, limit=1)
    await bench.edit(edited, "two", "TWO")
    bench.type(typed, "new ", 1)

    assert await told(held) == [
        f"whole (14 bytes, {seen(held, whole)})",
        f"edited (14 bytes, {seen(held, edited)}, modified by you)",
        f"typed (18 bytes, {seen(held, typed)}, changed by others since)",
        f"part (14 bytes, parts of it, {seen(held, part)})",
    ]


async def test_nothing_is_told_twice_and_what_is_new_is_told(bench, held, clock):
    one, two = bench.write("one", "1\n"), bench.write("two", "2\n")
    assert await held.listed([]) == []
    await bench.read(one, two)
    first = await held.listed([])
    assert first[0] == SEEN
    assert await held.listed([user("\n".join(first))]) == []

    await bench.read(two)

    assert await told(held, "\n".join(first)) == [f"two (2 bytes, {seen(held, two)})"]


async def test_the_list_is_short_however_many_files_were_seen(bench, held):
    await bench.read(*(bench.write(f"{number}.txt", "x\n") for number in range(MAX_TOLD + 5)))

    assert len(await held.listed([])) == 1 + MAX_TOLD


async def test_what_others_change_is_told_once_until_it_was_read_again(bench, held):
    path = bench.write("a", "one\ntwo\n")
    await bench.read(path)
    assert await held.changed() == []
    path.write_text("other\ntwo\n")
    assert await held.changed() == [CHANGED, f"- {path}"]
    path.write_text("another\ntwo\n")
    assert await held.changed() == []

    await bench.read(path)
    assert await held.changed() == []
    path.unlink()

    assert await held.changed() == [CHANGED, f"- {path}"]


async def test_what_is_saved_touched_or_changed_elsewhere_is_not_told(bench, held):
    path, large = bench.write("a", "one\n"), bench.write("b", "one\ntwo\nthree\n")
    bench.open(path)
    await bench.read(path)
    await bench.use("Read", file_path=large, offset=1, limit=2)
    bench.files.buffers.save(path.as_uri())
    large.write_text("one\ntwo\nother\n")

    assert await held.changed() == []


@pytest.mark.parametrize("policy", ["each", "end"])
@pytest.mark.parametrize("is_open", [True, False])
async def test_what_the_model_itself_changes_is_not_told(tmp_path, policy, is_open):
    bench = Bench(tmp_path, policy=policy)
    held = HeldFiles(bench.files, bench.context.shown, lambda: bench.context.draft.texts)
    path = bench.write("a", "one\ntwo\n")
    if is_open:
        bench.open(path)
    await bench.read(path)
    await bench.edit(path, "two", "three\nfour")
    await bench.use("WriteFile", file_path=bench.root / "new", content="x\n")
    assert await held.changed() == []
    await bench.context.draft.review()

    assert await held.changed() == []


async def test_an_edit_that_was_rejected_is_no_change(bench, held):
    path = bench.write("a", "one\ntwo\n")
    await bench.read(path)
    bench.editor.decide = reject
    await bench.edit(path, "two", "three")

    assert (await held.changed(), await told(held)) == ([], [f"a (8 bytes, {seen(held, path)})"])


async def test_a_change_that_the_list_has_told_is_not_told_again_in_the_same_turn(bench, held):
    path = bench.write("a", "one\n")
    await bench.read(path)
    path.write_text("other\n")

    assert await told(held) == [f"a (4 bytes, {seen(held, path)}, changed by others since)"]
    assert await held.changed() == []


@pytest.fixture
def looks(monkeypatch):
    """Looks at the disk: what for, which file, and whether on the event loop."""
    looks, loop = [], threading.get_ident()

    def counted(name):
        look = getattr(files, name)

        def counting(path):
            looks.append((name, path.name, threading.get_ident() == loop))
            return look(path)

        monkeypatch.setattr(files, name, counting)

    counted("stamp_on_disk")
    counted("opened_file")
    return looks


async def test_in_a_step_each_file_is_looked_at_once_beside_the_loop_and_read_if_it_has_changed(bench, held, looks):
    paths = [bench.write(f"{number:02}", "one\n") for number in range(20)]
    await bench.read(*paths)
    for path in paths[5:8]:
        path.write_text("other\n")
    looks.clear()

    await held.changed()

    assert looks == [
        *(("stamp_on_disk", path.name, False) for path in paths),
        *(("opened_file", path.name, False) for path in paths[5:8]),
    ]
    looks.clear()
    await held.changed()
    assert [name for _, name, _ in looks] == [path.name for path in paths if path not in paths[5:8]]


async def test_for_the_list_the_disk_is_looked_at_beside_the_loop(bench, held, looks):
    await bench.read(*(bench.write(f"{number}", "one\n") for number in range(20)))
    looks.clear()

    await held.listed([])

    assert {(what, is_on_loop) for what, _, is_on_loop in looks} == {("stamp_on_disk", False)}
    assert len(looks) == 40  # to know what has changed, and which text is held


async def test_what_is_shown_while_it_is_compared_is_known_as_it_is_shown(bench, held, monkeypatch):
    path = bench.write("a", "one\ntwo\n")
    await bench.read(path)
    path.write_text("other\ntwo\n")
    shown, compared = bench.context.shown, threading.Event()
    open_file, loop = files.opened_file, threading.get_ident()

    def opening(it):
        if threading.get_ident() != loop and not compared.is_set():
            compared.set()
            shown.note(it, 1, ["other", "two"], total=2)
        return open_file(it)

    monkeypatch.setattr(files, "opened_file", opening)

    assert await held.changed() == []
    assert compared.is_set()
    assert not shown.of(path).is_outdated


async def test_what_another_session_has_edited_is_not_modified_by_this_one(odin, call):
    odin.settings |= {"review": {"policy": "auto"}}
    odin.person.apply = TerminalEditor("yes").apply
    path = odin.root / "greet.py"
    reads = call("Read", file_path=str(path))
    edits = call("EditTool", file_path=str(path), old_string="hello", new_string="hi")
    odin.script(
        {"calls": [reads]}, {"calls": [edits]}, {"text": "Edited."}, {"text": "Nothing."},
        {"calls": [reads]}, {"text": "Read."}, {"text": "Nothing."},
    )  # fmt: skip
    for mode in ("edit_mode", "ask_mode"):
        assert (await odin.take("go", mode)).reason == "end_turn"
    editor = odin.session
    odin.start().sessions.begin()
    for _ in range(2):
        assert (await odin.take("go")).reason == "end_turn"

    def list_of(session):
        [line] = [line for it in session.messages for line in it.text.splitlines() if line.startswith(f"- {path} (")]
        return line

    assert "hi {name}" in path.read_text()
    assert odin.session is not editor
    assert list_of(editor).endswith("modified by you)")
    assert "modified by you" not in list_of(odin.session)
