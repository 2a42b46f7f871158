import threading

from odin_lsp.workspace import files as workspace_files
from odin_lsp.workspace.buffers import Buffers
from odin_lsp.workspace.cache import FileCache
from odin_lsp.workspace.files import Files
from odin_lsp.workspace.shown import MAX_FILES, Shown


def test_what_was_shown_is_covered_as_long_as_it_is_the_same(tmp_path):
    shown, path = Shown(), tmp_path / "a"
    shown.note(path, 10, ["ten", "eleven", "twelve"])

    assert shown.covers(path, 11, ["eleven", "twelve"])
    assert not shown.covers(path, 11, ["eleven", "changed"])
    assert not shown.covers(path, 12, ["twelve", "thirteen"])
    assert shown.missing(path, 9, ["nine", "ten", "other", "twelve", "thirteen", "fourteen"]) == [
        (9, 9),
        (11, 11),
        (13, 14),
    ]
    assert not shown.covers(tmp_path / "b", 1, ["x"])


def test_a_file_is_whole_when_all_its_lines_were_shown(tmp_path):
    shown, path = Shown(), tmp_path / "a"
    shown.note(path, 1, ["one"], total=2)
    assert not shown.of(path).is_whole
    shown.note(path, 2, ["two"], total=2)
    assert shown.of(path).is_whole


def test_when_a_file_has_another_length_old_line_numbers_mean_nothing(tmp_path):
    shown, path = Shown(), tmp_path / "a"
    shown.note(path, 1, ["one", "two"], total=2)
    shown.note(path, 3, ["three"], total=3)

    assert not shown.covers(path, 1, ["one"])
    assert shown.covers(path, 3, ["three"])


def test_it_does_not_grow_forever(tmp_path):
    shown = Shown()
    for number in range(MAX_FILES + 10):
        shown.note(tmp_path / str(number), 1, ["x"])

    assert len(list(shown)) == MAX_FILES


async def test_what_was_shown_before_odin_was_started_is_read_beside_the_loop(tmp_path, monkeypatch):
    same, other, gone = (tmp_path / name for name in ("same", "other", "gone"))
    before, now = Shown(), Shown()
    for path in (same, other, gone):
        path.write_text("one\ntwo\nthree\n")
        before.note(path, 1, ["one"], total=3)
        before.note(path, 3, ["three"], total=3)
    other.write_text("one\ntwo\nTHREE\n")
    gone.unlink()
    threads, open_file = [], workspace_files.opened_file
    monkeypatch.setattr(
        workspace_files, "opened_file", lambda path: threads.append(threading.get_ident()) or open_file(path)
    )

    files = Files([tmp_path], Buffers(), FileCache())
    await now.recall(files, {path: before.stretches(path) for path, _ in before})

    assert {path.name: (file.lines, file.total) for path, file in now} == {
        "same": ({1: "one", 3: "three"}, 3),
        "other": ({1: "one"}, 3),
    }
    assert len(threads) == 3
    assert threading.get_ident() not in threads
